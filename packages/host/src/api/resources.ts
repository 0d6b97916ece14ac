/** The routes of a resource, generated from its wire. */
import { type Api, callerOf, type Idempotency, JSON_TYPE, readPayload, warn } from '@gantry/http';
import { closedObject, invalid, type Table, type Wire } from '@gantry/protocol';
import { type Caller, type Matching, personCaller, type Shown } from '@gantry/resources';
import type { EntryFilter } from '@gantry/store';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';

const LIST_DEFAULT = 50;
const LIST_MAX = 200;

const Id = Type.String({ minLength: 1, maxLength: 128 });
const ListQuery = closedObject({
  before: Type.Optional(Id),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIST_MAX })),
});

/** The `ETag` of an earlier answer, quoted, or `*`. */
export const IfMatch = Type.Object({ 'if-match': Type.Optional(Type.String()) });

type View = Readonly<Record<string, unknown>>;

/** A service whose wire is known only at run time. The schemas of the routes validate its input. */
export interface AnyService {
  create(caller: Caller, input: unknown): Promise<Shown<View>>;
  get(caller: Caller, id: string): Promise<Shown<View>>;
  page(caller: Caller, filter: EntryFilter): Promise<{ shown: Shown<View>[]; hasMore: boolean }>;
  call(caller: Caller, verb: string, id: string, input: unknown, matching: Matching): Promise<Shown<View>>;
  act(caller: Caller, name: string, id: string, input: unknown, matching: Matching): Promise<unknown>;
  read(caller: Caller, name: string, id: string, input: unknown): Promise<unknown>;
  all(name: string, input: unknown): unknown;
  actAll(caller: Caller, name: string, input: unknown): Promise<unknown>;
  remove(caller: Caller, id: string, matching: Matching): Promise<Shown<View>>;
  readonly digest: ((text: string) => string) | undefined;
}

/** `claim` identifies the idempotency record of the answer. */
export const personOf = (request: unknown, claim?: Extract<Caller, { kind: 'person' }>['request']): Caller =>
  personCaller(callerOf(request), claim);

const etagOf = ({ version }: Shown<View>): string => `"${version}"`;

export function matchingOf({ headers: { 'if-match': wanted } }: FastifyRequest): Matching {
  if (wanted === undefined || wanted === '*') return {};
  const [, version] = /^"(\d{1,16})"$/.exec(wanted) ?? [];
  if (version !== undefined) return { version: Number(version) };
  throw invalid('If-Match must be the ETag of an earlier answer, or *.', { header: 'If-Match' });
}

/** `items` is the path to create, read and delete items; `methods` is the path of their methods. */
function pathsOf({ path, url, id = 'id' }: Table) {
  const methods = `/v1/host/gantry/${path}`;
  const items = url ?? methods;
  // Ids contain no colon: a verb follows it
  const name = `:${id}(^[^:/]+)`;
  return { items, item: `${items}/${name}`, methods, method: `${methods}/${name}`, params: paramsOf(id) };
}

const paramsOf = (id: string) => Type.Object({ [id]: Id });

const idOf = (request: { readonly params: Readonly<Record<string, string>> }): string =>
  Object.values(request.params)[0]!;

type Once = Pick<Idempotency, 'once'>;

/** Runs a request that changes something. Its answer is recorded under its key in the same commit. */
export async function changed(
  request: FastifyRequest,
  reply: FastifyReply,
  idempotency: Once,
  work: (caller: Caller) => Promise<unknown>,
  keyed?: (text: string) => string,
): Promise<string> {
  const answer = await idempotency.once(request, reply, (claim) => work(personOf(request, claim)), keyed);
  void reply.type(JSON_TYPE);
  return answer === undefined ? '' : JSON.stringify(answer);
}

/** Sentences about probable mistakes in the input that creates an item. */
type Warnings = (tenant: string, input: unknown) => Promise<readonly string[]>;

export function resourceRoutes(
  app: Api,
  wire: Wire,
  service: AnyService,
  idempotency: Once,
  warnings?: Warnings,
): void {
  readRoutes(app, wire, service);
  const { items, item, method, params } = pathsOf(wire.table);
  const { view, own = [], gone } = wire;
  const config = { access: wire.scopes.write };
  const header = { headers: IfMatch };

  function change(
    request: FastifyRequest,
    reply: FastifyReply,
    work: (caller: Caller, matching: Matching) => Promise<Shown<View>>,
  ): Promise<string> {
    const matching = matchingOf(request);
    const answer = async (caller: Caller): Promise<View> => {
      const shown = await work(caller, matching);
      void reply.header('etag', etagOf(shown));
      return shown.view;
    };
    return changed(request, reply, idempotency, answer, service.digest);
  }

  const CREATE = { summary: wire.about, body: wire.input, response: { 201: wire.created ?? view } };
  if (!own.includes('create'))
    app.post(items, { schema: CREATE, config }, async (request, reply) => {
      const created = await change(request, reply.code(201), (caller) =>
        service.create(caller, request.body),
      );
      if (warnings) warn(reply, await warnings(callerOf(request).tenant, request.body));
      return created;
    });

  for (const [name, access] of Object.entries(wire.table.item ?? {})) {
    if (access === 'read' || own.includes(name)) continue;
    const { about: summary, in: body, out } = wire.methods[name]!;
    if (out) {
      actRoute(app, wire, name, service, idempotency);
      continue;
    }
    const schema = { summary, params, body, response: { 200: view }, ...header };
    app.post(`${method}::${name}`, { schema, config }, (request, reply) =>
      change(request, reply, (caller, matching) =>
        service.call(caller, name, idOf(request), request.body, matching),
      ),
    );
  }

  for (const [name, access] of Object.entries(wire.table.all ?? {}))
    if (access === 'write' && !own.includes(name)) allActRoute(app, wire, name, service, idempotency);

  if (own.includes('remove')) return;
  const summary = `Delete one of the ${wire.table.path}`;
  const response = gone ? { 204: Type.Null() } : { 200: view };
  app.delete(item, { schema: { summary, params, response, ...header }, config }, async (request, reply) => {
    const body = await change(request, reply, (caller, matching) =>
      service.remove(caller, idOf(request), matching),
    );
    if (!gone) return body;
    void reply.code(204);
    return '';
  });
}

/** A method whose answer is not its item. */
function actRoute(app: Api, wire: Wire, name: string, service: AnyService, idempotency: Once): void {
  const { method, params } = pathsOf(wire.table);
  const { about: summary, in: body, out, accepted, scopes = wire.scopes.write } = wire.methods[name]!;
  const status = accepted ? 202 : 200;
  const schema = { summary, params, body, headers: IfMatch, response: { [status]: out } };
  app.post(`${method}::${name}`, { schema, config: { access: scopes } }, (request, reply) => {
    const matching = matchingOf(request);
    const act = async (caller: Caller) => service.act(caller, name, idOf(request), request.body, matching);
    return changed(request, reply.code(status), idempotency, act, service.digest);
  });
}

/** A method of the whole collection that writes. */
function allActRoute(app: Api, wire: Wire, name: string, service: AnyService, idempotency: Once): void {
  const {
    about: summary,
    in: body,
    out = wire.view,
    accepted,
    scopes = wire.scopes.write,
  } = wire.methods[name]!;
  const status = accepted ? 202 : 200;
  const schema = { summary, body, response: { [status]: out } };
  app.post(
    `${pathsOf(wire.table).methods}::${name}`,
    { schema, config: { access: scopes } },
    (request, reply) => {
      const act = (caller: Caller) => service.actAll(caller, name, request.body);
      return changed(request, reply.code(status), idempotency, act, service.digest);
    },
  );
}

function readRoutes(app: Api, wire: Wire, service: AnyService): void {
  const { table, view, scopes, methods, own = [], listed: listDefault = LIST_DEFAULT } = wire;
  const { items, item, methods: url, method, params } = pathsOf(table);
  const { id = 'id', list = table.path, alsoListed } = table;
  const config = { access: scopes.read };
  const lists = [list, ...(alsoListed === undefined ? [] : [alsoListed])];
  const listed = <T>(items: T): Record<string, T> => Object.fromEntries(lists.map((name) => [name, items]));
  const List = Type.Object({ ...listed(Type.Array(view)), nextBefore: Type.Optional(Type.String()) });

  const LIST = {
    summary: `List ${table.path}, newest first`,
    querystring: ListQuery,
    response: { 200: List },
  };
  app.get(items, { schema: LIST, config }, async (request, reply) => {
    const { before: beforeId, limit = listDefault } = request.query;
    const filter = { limit, ...(beforeId !== undefined && { beforeId }) };
    const { shown, hasMore } = await service.page(personOf(request), filter);
    const views = shown.map(({ view }) => view);
    const next = hasMore && views.length > 0 ? { nextBefore: views.at(-1)![id] } : {};
    return readPayload(request, reply, JSON.stringify({ ...listed(views), ...next }));
  });

  const READ = { summary: `Read one of the ${table.path}`, params, response: { 200: view } };
  app.get(item, { schema: READ, config }, async (request, reply) => {
    const shown = await service.get(personOf(request), idOf(request));
    return readPayload(request, reply.header('etag', etagOf(shown)), JSON.stringify(shown.view));
  });

  for (const [name, access] of Object.entries(table.item ?? {})) {
    if (access === 'write' || own.includes(name)) continue;
    const { about: summary, in: querystring, out = view } = methods[name]!;
    const schema = { summary, params, querystring, response: { 200: out } };
    app.get(`${method}/${name}`, { schema, config }, async (request, reply) => {
      const answer = await service.read(personOf(request), name, idOf(request), request.query);
      return readPayload(request, reply, JSON.stringify(answer));
    });
  }

  // They only compute, so a repeated request needs no record
  for (const [name, access] of Object.entries(table.all ?? {})) {
    if (access === 'write' || own.includes(name)) continue;
    const { about: summary, in: body, out = view } = methods[name]!;
    const schema = { summary, body, response: { 200: out } };
    app.post(`${url}::${name}`, { schema, config: { access: scopes.write } }, async (request, reply) =>
      readPayload(request, reply, JSON.stringify(service.all(name, request.body))),
    );
  }
}
