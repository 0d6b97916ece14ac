/** `ctx.db.nosql`: JSON documents in collections. */
import { type JsonObject, OpenwopError } from '@gantry/protocol';
import Type from 'typebox';
import type { Cursors } from '../../calls/cursor.ts';
import { defineSurface, type ImplementedSurface, reads, writes } from '../../calls/define-surface.ts';
import * as s from '../../calls/schema.ts';
import { datasource, either, fill, type OwnSpelling } from '../../calls/spelling.ts';
import type { NumberedCall } from '../../calls/surface-call.ts';
import { SCAN_MS_MAX } from '../../deadline.ts';
import { opening } from '../../open-port.ts';
import type { DocumentLimits, DocumentsPort, NewDocument, WhenNone } from '../../ports/documents.ts';
import { comparingIds, type Filter } from '../documents/filter.ts';
import { documentsPort, findPage, LIMITS, MATCHES_MAX, patchOf, withId } from '../documents/paging.ts';
import { parseFilter, parseSort } from '../documents/parse-filter.ts';
import { noDatasource } from '../sql/datasources.ts';
import { parseUpdate, upserted } from './update.ts';

const { optional } = s;
const DATASOURCE = 'primary';
const Target = { datasourceId: optional(s.DatasourceId), collection: s.CollectionText };
const Matching = { ...Target, filter: s.FilterObject };
const ById = { ...Target, id: s.Name };
const REJECTED = 'nosql_filter_rejected';

export const NOSQL_LIMITS: DocumentLimits = { ...LIMITS, full: 'conflict' };

const SPELLINGS: readonly OwnSpelling[] = [
  { call: 'find', to: 'query', takes: [datasource, fill({ filter: {} })] },
  { call: 'insert', when: 'docs', to: 'insertMany', takes: [either('doc', 'docs'), datasource] },
  { call: 'update', when: 'filter', to: 'updateWhere', takes: [either('id', 'filter'), datasource] },
  { call: 'delete', when: 'filter', to: 'deleteWhere', takes: [either('id', 'filter'), datasource] },
  ...['insert', 'insertMany', 'get', 'query', 'update', 'updateWhere', 'delete', 'deleteWhere'].map(
    (call) => ({ call, takes: [datasource] }),
  ),
];

export const nosqlSurface = defineSurface({
  capability: 'nosql',
  spellings: SPELLINGS,
  summary:
    'Collections of JSON documents in a data source, `primary` unless said otherwise. Each tenant sees its own only. ' +
    'A document has an `id`, which is a text: one that is a number is kept as text, one without gets a new one. Filters are `{ field: value }` or ' +
    '`{ "field.inner": { $gt: 1 } }` with `$eq $ne $gt $gte $lt $lte $in $nin $exists $and $or $not`; a ' +
    'field that is not there equals null, lists are compared whole, and only numbers with numbers and texts with ' +
    'texts are greater or less. Anything else is refused.',
  journal: 'own',
  opens: opening(documentsPort(NOSQL_LIMITS), ({ kind, port, cursors }) => {
    const driver = kind === 'embedded' ? 'sqlite' : kind;
    return implementNosql({ datasources: [{ id: DATASOURCE, driver, tenants: '*', port }], cursors });
  }),
  // The protocol closes this advertisement, and its list of drivers includes none of ours
  limits: {},
  errors: ['datasource_not_found', 'datasource_access_denied', REJECTED, 'not_found', 'conflict'],
  methods: {
    insert: writes('Adds a document.', { ...Target, doc: s.PlainObject }, { id: s.Text }),
    insertMany: writes(
      'Adds documents, all or none.',
      { ...Target, docs: Type.Array(s.PlainObject, { maxItems: 1_000 }) },
      { inserted: s.Count, ids: Type.Array(s.Text) },
    ),
    get: reads('The document, or nothing.', ById, { doc: optional(s.AnyObject) }),
    query: reads(
      `Documents that match, in the order of insertion or by \`sort\` (\`{ name: 1, age: -1 }\`), page by page. ${s.PAGES} ` +
        '`projection` names the members to give (`1`) or to leave out (`0`). ' +
        `What takes longer than ${SCAN_MS_MAX / 1_000} s is ended.`,
      { ...Matching, sort: optional(s.FilterObject), projection: optional(s.FilterObject), ...s.Paging },
      { docs: Type.Array(s.AnyObject), ...s.Following },
    ),
    update: writes(
      'Replaces the members of `patch` in one document; `x.y` is the member `y` of the object `x`.',
      { ...ById, patch: s.PlainObject },
      s.Done,
    ),
    updateWhere: writes(
      'Replaces the members of `update`, or of its `$set`, in all documents that match, inner ones by `x.y`. With ' +
        '`upsert`, where none does, one is inserted from the equalities of the filter and the update.',
      { ...Matching, update: s.PlainObject, upsert: optional(s.Flag) },
      { matched: s.Count, modified: s.Count },
    ),
    delete: writes('Removes a document.', ById, { deleted: s.Flag }),
    deleteWhere: writes('Removes all documents that match.', Matching, { deleted: s.Count }),
  },
});

export interface NosqlDatasource {
  readonly id: string;
  /** The name in discovery: `sqlite`, `postgres`. */
  readonly driver: string;
  readonly tenants: '*' | readonly string[];
  /** Opened with `NOSQL_LIMITS`. */
  readonly port: DocumentsPort;
}

interface NosqlOptions {
  readonly datasources: readonly NosqlDatasource[];
  readonly cursors: Cursors;
}

interface At {
  readonly datasourceId?: string | undefined;
  readonly collection: string;
}

const targetOf = ({ datasourceId = DATASOURCE, collection }: At) => ({
  space: `nosql:${datasourceId}`,
  collection,
});
const oneOf = (at: At, id: string) => ({
  ...targetOf(at),
  filter: { kind: 'id', ids: [id] } as const,
  matchesMax: 1,
});

const filterOf = (filter: JsonObject): Filter => comparingIds(parseFilter(filter, REJECTED));

/** The member `id` is set to the document's id, since lookups use that id. */
function newDocument(doc: JsonObject, invocation: NumberedCall, position?: number): NewDocument {
  const { id, document } = withId(doc, invocation, position);
  return { id, document: { ...document, id } };
}

export function implementNosql({ datasources, cursors }: NosqlOptions): ImplementedSurface {
  const portOf = finding(datasources);
  return nosqlSurface.implement(
    {
      async insert({ doc, ...at }, call) {
        const added = newDocument(doc, call.invocation);
        await portOf(at, call).insert({ ...targetOf(at), documents: [added], typed: false }, call);
        return { id: added.id };
      },
      async insertMany({ docs, ...at }, call) {
        const documents = docs.map((doc, position) => newDocument(doc, call.invocation, position));
        const port = portOf(at, call);
        if (documents.length > 0) await port.insert({ ...targetOf(at), documents, typed: false }, call);
        return { inserted: documents.length, ids: documents.map(({ id }) => id) };
      },
      async get({ id, ...at }, call) {
        const doc = await portOf(at, call).get({ ...targetOf(at), id }, call);
        return doc === null ? {} : { doc };
      },
      async query({ filter, sort = {}, projection = {}, cursor, limit, ...at }, call) {
        const port = portOf(at, call);
        const project = projected(projection);
        const request = { filter: filterOf(filter), sort: parseSort(sort, REJECTED), cursor, limit };
        const { documents, next } = await findPage({ port, cursors }, targetOf(at), request, call);
        return { docs: documents.map(project), ...(next !== null && { nextCursor: next }) };
      },
      async update({ id, patch, ...at }, call) {
        const change = { ...oneOf(at, id), patch: patchOf(parseUpdate(patch), id) };
        await portOf(at, call).patch({ ...change, whenNone: { do: 'refuse' } }, call);
        return { ok: true };
      },
      async updateWhere({ filter: asked, update, upsert = false, ...at }, call) {
        const filter = filterOf(asked);
        const set = parseUpdate(update);
        const added = () => newDocument(upserted(filter, set), call.invocation);
        const whenNone: WhenNone = upsert
          ? { do: 'insert', ...added(), typed: false, indexes: [] }
          : { do: 'answer' };
        const change = { ...targetOf(at), filter, matchesMax: MATCHES_MAX, patch: patchOf(set), whenNone };
        const { matched, modified } = await portOf(at, call).patch(change, call);
        return { matched, modified };
      },
      async delete({ id, ...at }, call) {
        return { deleted: (await portOf(at, call).delete(oneOf(at, id), call)).deleted > 0 };
      },
      async deleteWhere({ filter, ...at }, call) {
        const change = { filter: filterOf(filter), matchesMax: MATCHES_MAX };
        return portOf(at, call).delete({ ...targetOf(at), ...change }, call);
      },
    },
    {
      advertises: {
        datasources: datasources
          .filter(({ tenants }) => tenants === '*')
          .map(({ id, driver }) => ({ id, driver })),
      },
    },
  );
}

function finding(datasources: readonly NosqlDatasource[]) {
  return ({ datasourceId = DATASOURCE }: At, { tenant }: { readonly tenant: string }): DocumentsPort => {
    const found = datasources.find(({ id }) => id === datasourceId);
    const isFor = ({ tenants }: NosqlDatasource): boolean => tenants === '*' || tenants.includes(tenant);
    if (!found)
      throw noDatasource(
        datasourceId,
        datasources.filter(isFor).map(({ id }) => id),
      );
    if (!isFor(found)) throw new OpenwopError('datasource_access_denied');
    return found.port;
  };
}

/** `{ name: 1 }` returns the named members and the `id`, `{ name: 0 }` omits them. */
export function projected(projection: JsonObject): (document: JsonObject) => JsonObject {
  const names = Object.keys(projection);
  if (names.length === 0) return (document) => document;
  const kinds = new Set(Object.values(projection).map((kind) => kind === 1 || kind === true));
  const isOdd = Object.values(projection).some(
    (kind) => ![0, 1, true, false].includes(kind as number | boolean),
  );
  if (isOdd || kinds.size > 1 || names.some((name) => name.startsWith('$') || name.includes('.')))
    throw new OpenwopError('nosql_filter_rejected', {
      message: 'A projection names members of a document, all with 1 or all with 0.',
    });
  const given = kinds.has(true) ? new Set([...names, 'id']) : null;
  return (document) =>
    Object.fromEntries(
      Object.entries(document).filter(([name]) => (given ? given.has(name) : !names.includes(name))),
    );
}
