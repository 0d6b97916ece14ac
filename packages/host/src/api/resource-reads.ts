/** The routes of a resource that read. */
import { type Api, readPayload } from '@gantry/http';
import { closedObject, filtersOf, invalid, type Wire } from '@gantry/protocol';
import type { EntryFilter } from '@gantry/store';
import Type from 'typebox';
import { type AnyService, etagOf, Id, idOf, pathsOf, personOf, refuseUnknown } from './resource-route.ts';

const LIST_DEFAULT = 50;
const LIST_MAX = 200;

const PAGE = {
  before: Type.Optional(Id),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIST_MAX })),
};
const FilterValue = Type.Optional(Type.String({ minLength: 1, maxLength: 512 }));

export function readRoutes(app: Api, wire: Wire, service: AnyService): void {
  const { table, view, scopes, methods, own = [] } = wire;
  const { item, methods: url, method, params } = pathsOf(table);
  const config = { access: scopes.read };

  listRoutes(app, wire, service);

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

function listRoutes(app: Api, wire: Wire, service: AnyService): void {
  const { table, view, scopes, parent, listed: limitDefault = LIST_DEFAULT } = wire;
  const { id = 'id', list = table.path, alsoListed } = table;
  const config = { access: scopes.read };
  const names = [list, ...(alsoListed === undefined ? [] : [alsoListed])];
  const listed = <T>(items: T): Record<string, T> => Object.fromEntries(names.map((name) => [name, items]));
  const response = {
    200: Type.Object({ ...listed(Type.Array(view)), nextBefore: Type.Optional(Type.String()) }),
  };
  const answer = async (
    request: unknown,
    { before: beforeId, limit = limitDefault }: { before?: string; limit?: number },
    index: EntryFilter['index'],
  ): Promise<string> => {
    const filter = { limit, ...(beforeId !== undefined && { beforeId }), ...(index && { index }) };
    const { shown, hasMore } = await service.page(personOf(request), filter);
    const views = shown.map(({ view }) => view);
    const next = hasMore && views.length > 0 ? { nextBefore: views.at(-1)![id] } : {};
    return JSON.stringify({ ...listed(views), ...next });
  };

  const filters = filtersOf(wire);
  const summary = `List ${table.path}, newest first`;
  const querystring = closedObject({
    ...PAGE,
    ...Object.fromEntries(filters.map((name) => [name, FilterValue])),
  });
  const preValidation = async ({ query }: { query: unknown }): Promise<void> =>
    refuseUnknown(Object(query), [...filters, ...Object.keys(PAGE)], { part: 'query', what: 'filter' });
  app.get(
    pathsOf(table).items,
    { schema: { summary, querystring, response }, config, ...(filters.length > 0 && { preValidation }) },
    async (request, reply) => {
      const { before: _, limit: __, ...given } = request.query;
      return readPayload(request, reply, await answer(request, request.query, filterOf(filters, given)));
    },
  );

  if (!parent) return;
  const { method: above, params } = pathsOf(parent);
  const schema = {
    summary: `${summary}, of one of the ${parent.path}`,
    params,
    querystring: closedObject(PAGE),
    response,
  };
  app.get(`${above}/${table.path}`, { schema, config }, async (request, reply) => {
    const value = idOf(request);
    await service.assertParentSeen(personOf(request), value);
    return readPayload(request, reply, await answer(request, request.query, { name: parent.id, value }));
  });
}

function filterOf(filters: readonly string[], query: Readonly<Record<string, string>>): EntryFilter['index'] {
  const [name, ...others] = filters.filter((filter) => query[filter] !== undefined);
  if (name === undefined) return undefined;
  if (others.length === 0) return { name, value: query[name]! };
  throw invalid(`The list takes one filter at a time: ${filters.join(', ')}.`, {
    fields: others.map((other) => ({ field: `query/${other}`, problem: `cannot be combined with ${name}` })),
  });
}
