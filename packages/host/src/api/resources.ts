/** The routes of a resource, generated from its wire. */
import { type Api, callerOf, type Idempotency, JSON_TYPE, warn } from '@gantry/http';
import { closedObject, invalid, type Wire } from '@gantry/protocol';
import type { Caller, Matching, Shown } from '@gantry/resources';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type, { type TSchema } from 'typebox';
import { readRoutes } from './resource-reads.ts';
import {
  type AnyService,
  etagOf,
  IfMatch,
  idOf,
  matchingOf,
  pathsOf,
  personOf,
  propertiesOf,
  refuseUnknown,
  type View,
} from './resource-route.ts';

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
export type Warnings = (tenant: string, input: unknown) => Promise<readonly string[]>;

interface Of {
  readonly app: Api;
  readonly wire: Wire;
  readonly service: AnyService;
  readonly idempotency: Once;
}

export function resourceRoutes(
  app: Api,
  wire: Wire,
  service: AnyService,
  idempotency: Once,
  warnings?: Warnings,
): void {
  const of = { app, wire, service, idempotency };
  const { table, methods, own = [], update } = wire;
  readRoutes(app, wire, service);
  if (!own.includes('create')) createRoutes(of, warnings);
  if (update) updateRoute(of, update);
  for (const [name, access] of Object.entries(table.item ?? {})) {
    if (access === 'read' || own.includes(name)) continue;
    if (methods[name]!.out) actRoute(of, name);
    else verbRoute(of, name);
  }
  for (const [name, access] of Object.entries(table.all ?? {}))
    if (access === 'write' && !own.includes(name)) allActRoute(of, name);
  if (!own.includes('remove')) removeRoute(of);
}

/** The answer is the item, with its version. */
function changedItem(
  { service, idempotency }: Of,
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

/** With a parent, below its path too: the input there lacks its id. */
function createRoutes(of: Of, warnings?: Warnings): void {
  const { app, wire, service } = of;
  const { table, parent, about: summary, input, created = wire.view, scopes } = wire;
  const config = { access: scopes.write };
  const response = { 201: created };
  const create = async (request: FastifyRequest, reply: FastifyReply, input: unknown): Promise<string> => {
    const made = await changedItem(of, request, reply.code(201), (caller) => service.create(caller, input));
    if (warnings) warn(reply, await warnings(callerOf(request).tenant, input));
    return made;
  };
  const { items } = pathsOf(table);
  app.post(items, { schema: { summary, body: input, response }, config }, (request, reply) =>
    create(request, reply, request.body),
  );
  if (!parent) return;
  const { method: above, params } = pathsOf(parent);
  const { [parent.id]: _, ...fields } = propertiesOf(input);
  const schema = { summary, params, body: closedObject(fields), response };
  app.post(`${above}/${table.path}`, { schema, config }, (request, reply) =>
    create(request, reply, { ...request.body, [parent.id]: idOf(request) }),
  );
}

function updateRoute(of: Of, update: TSchema): void {
  const { app, wire, service } = of;
  const { item, params } = pathsOf(wire.table);
  const known = Object.keys(propertiesOf(update));
  const schema = {
    summary: `Change one of the ${wire.table.path}: the given fields replace its own`,
    params,
    body: update,
    response: { 200: wire.view },
    headers: IfMatch,
  };
  const preValidation = async ({ body }: FastifyRequest): Promise<void> => {
    refuseUnknown(Object(body), known, { part: 'body', what: 'member' });
    if (Object.keys(Object(body)).length === 0)
      throw invalid(`body changes nothing. It takes ${known.join(', ')}.`);
  };
  const config = { access: wire.scopes.write };
  app.patch(item, { schema, config, preValidation }, (request, reply) =>
    changedItem(of, request, reply, (caller, matching) =>
      service.update(caller, idOf(request), request.body, matching),
    ),
  );
}

function verbRoute(of: Of, name: string): void {
  const { app, wire, service } = of;
  const { method, params } = pathsOf(wire.table);
  const { about: summary, in: body } = wire.methods[name]!;
  const schema = { summary, params, body, response: { 200: wire.view }, headers: IfMatch };
  app.post(`${method}::${name}`, { schema, config: { access: wire.scopes.write } }, (request, reply) =>
    changedItem(of, request, reply, (caller, matching) =>
      service.call(caller, name, idOf(request), request.body, matching),
    ),
  );
}

/** A method whose answer is not its item. */
function actRoute({ app, wire, service, idempotency }: Of, name: string): void {
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
function allActRoute({ app, wire, service, idempotency }: Of, name: string): void {
  const method = wire.methods[name]!;
  const { about: summary, in: body, out = wire.view, accepted, scopes = wire.scopes.write } = method;
  const status = accepted ? 202 : 200;
  const schema = { summary, body, response: { [status]: out } };
  const url = `${pathsOf(wire.table).methods}::${name}`;
  app.post(url, { schema, config: { access: scopes } }, (request, reply) => {
    const act = (caller: Caller) => service.actAll(caller, name, request.body);
    return changed(request, reply.code(status), idempotency, act, service.digest);
  });
}

function removeRoute(of: Of): void {
  const { app, wire, service } = of;
  const { table, view, gone, scopes } = wire;
  const { item, params } = pathsOf(table);
  const summary = `Delete one of the ${table.path}`;
  const response = gone ? { 204: Type.Null() } : { 200: view };
  const schema = { summary, params, response, headers: IfMatch };
  app.delete(item, { schema, config: { access: scopes.write } }, async (request, reply) => {
    const body = await changedItem(of, request, reply, (caller, matching) =>
      service.remove(caller, idOf(request), matching),
    );
    if (!gone) return body;
    void reply.code(204);
    return '';
  });
}
