/** The routes of a resource, from its wire. */
import { type Api, callerOf, type Idempotency, JSON_TYPE, readPayload } from '@gantry/http';
import { OpenwopError, type Table, type Wire } from '@gantry/protocol';
import type { Caller, ResourceService, Shown } from '@gantry/resources';
import type { EntryFilter } from '@gantry/store';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';

const LIST_DEFAULT = 50;
const LIST_MAX = 200;

const closed = { additionalProperties: false } as const;
const Id = Type.String({ minLength: 1, maxLength: 128 });
const ListQuery = Type.Object(
  {
    before: Type.Optional(Id),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIST_MAX })),
  },
  closed,
);

type View = Readonly<Record<string, unknown>>;
type Matching = Parameters<ResourceService<Wire, object>['remove']>[2];

/** A service whose wire is known at run time only: the schemas of the routes check what it is given. */
interface AnyService {
  create(caller: Caller, input: unknown): Promise<Shown<View>>;
  get(caller: Caller, id: string): Promise<Shown<View>>;
  list(caller: Caller, filter: EntryFilter): Promise<Shown<View>[]>;
  call(caller: Caller, verb: string, id: string, input: unknown, matching: Matching): Promise<Shown<View>>;
  read(caller: Caller, name: string, id: string, input: unknown): Promise<unknown>;
  all(name: string, input: unknown): unknown;
  remove(caller: Caller, id: string, matching: Matching): Promise<Shown<View>>;
}

/** `claim`: of the record of its answer. */
export const personOf = (
  request: unknown,
  claim?: Extract<Caller, { kind: 'person' }>['request'],
): Caller => {
  const { tenant, keyId } = callerOf(request);
  return { kind: 'person', tenant, actor: keyId, ...(claim && { request: claim }) };
};

const etagOf = ({ version }: Shown<View>): string => `"${version}"`;

function matchingOf({ headers: { 'if-match': wanted } }: FastifyRequest): Matching {
  if (wanted === undefined || wanted === '*') return {};
  const [, version] = /^"(\d{1,16})"$/.exec(wanted) ?? [];
  if (version !== undefined) return { version: Number(version) };
  throw new OpenwopError('validation_error', {
    message: 'If-Match must be the ETag of an earlier answer, or *.',
    details: { header: 'If-Match' },
  });
}

function placesOf({ path, id = 'id' }: Table) {
  const url = `/v1/host/gantry/${path}`;
  // An id has no colon: what follows one is a verb
  return { url, one: `${url}/:${id}(^[^:/]+)`, id, params: Type.Object({ [id]: Id }) };
}

const idOf = (request: { readonly params: Readonly<Record<string, string>> }): string =>
  Object.values(request.params)[0]!;

export function resourceRoutes(
  app: Api,
  wire: Wire,
  service: AnyService,
  idempotency: Pick<Idempotency, 'once'>,
): void {
  readRoutes(app, wire, service);
  const { url, one, params } = placesOf(wire.table);
  const config = { access: wire.scopes.write };
  const response = { 200: wire.view };

  async function change(
    request: FastifyRequest,
    reply: FastifyReply,
    work: (caller: Caller, matching: Matching) => Promise<Shown<View>>,
  ): Promise<string> {
    const matching = matchingOf(request);
    const shown = await idempotency.once(request, reply, (claim) => work(personOf(request, claim), matching));
    void reply.type(JSON_TYPE).header('etag', etagOf(shown));
    return JSON.stringify(shown.view);
  }

  const CREATE = { summary: wire.about, body: wire.input, response: { 201: wire.view } };
  app.post(url, { schema: CREATE, config }, (request, reply) =>
    change(request, reply.code(201), (caller) => service.create(caller, request.body)),
  );

  for (const [name, access] of Object.entries(wire.table.item ?? {})) {
    if (access === 'read') continue;
    const { about: summary, in: body } = wire.methods[name]!;
    const schema = { summary, params, body, response };
    app.post(`${one}::${name}`, { schema, config }, (request, reply) =>
      change(request, reply, (caller, matching) =>
        service.call(caller, name, idOf(request), request.body, matching),
      ),
    );
  }

  const REMOVE = { summary: `Delete one of the ${wire.table.path}`, params, response };
  app.delete(one, { schema: REMOVE, config }, (request, reply) =>
    change(request, reply, (caller, matching) => service.remove(caller, idOf(request), matching)),
  );
}

function readRoutes(app: Api, wire: Wire, service: AnyService): void {
  const { table, view, scopes, methods, listed: listDefault = LIST_DEFAULT } = wire;
  const { url, one, id, params } = placesOf(table);
  const config = { access: scopes.read };
  const List = Type.Object({ [table.path]: Type.Array(view), nextBefore: Type.Optional(Type.String()) });

  const LIST = {
    summary: `List ${table.path}, newest first`,
    querystring: ListQuery,
    response: { 200: List },
  };
  app.get(url, { schema: LIST, config }, async (request, reply) => {
    const { before: beforeId, limit = listDefault } = request.query;
    const filter = { limit: limit + 1, ...(beforeId !== undefined && { beforeId }) };
    const listed = (await service.list(personOf(request), filter)).map((shown) => shown.view);
    const views = listed.slice(0, limit);
    const next = listed.length > limit ? { nextBefore: views.at(-1)![id] } : {};
    return readPayload(request, reply, JSON.stringify({ [table.path]: views, ...next }));
  });

  const READ = { summary: `Read one of the ${table.path}`, params, response: { 200: view } };
  app.get(one, { schema: READ, config }, async (request, reply) => {
    const shown = await service.get(personOf(request), idOf(request));
    return readPayload(request, reply.header('etag', etagOf(shown)), JSON.stringify(shown.view));
  });

  for (const [name, access] of Object.entries(table.item ?? {})) {
    if (access === 'write') continue;
    const { about: summary, in: querystring, out = view } = methods[name]!;
    const schema = { summary, params, querystring, response: { 200: out } };
    app.get(`${one}/${name}`, { schema, config }, async (request, reply) => {
      const answer = await service.read(personOf(request), name, idOf(request), request.query);
      return readPayload(request, reply, JSON.stringify(answer));
    });
  }

  // They compute and change nothing: a repeat needs no record
  for (const name of Object.keys(table.all ?? {})) {
    const { about: summary, in: body, out = view } = methods[name]!;
    const schema = { summary, body, response: { 200: out } };
    app.post(`${url}::${name}`, { schema, config: { access: scopes.write } }, async (request, reply) =>
      readPayload(request, reply, JSON.stringify(service.all(name, request.body))),
    );
  }
}
