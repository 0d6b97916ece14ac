/** `ctx.storage.table`: rows with typed columns. */
import { type JsonObject, OpenwopError } from '@gantry/protocol';
import Type from 'typebox';
import { defineSurface, type ImplementedSurface, reads, writes } from '../../calls/define-surface.ts';
import * as s from '../../calls/schema.ts';
import { also, either, member, rename } from '../../calls/spelling.ts';
import type { WriteCall } from '../../calls/surface-call.ts';
import { type Over, opening } from '../../open-port.ts';
import {
  type CollectionName,
  type DocumentLimits,
  type DocumentsPort,
  INDEXES_MAX,
} from '../../ports/documents.ts';
import { COLUMNS_MAX, type ColumnType, columnsIn } from '../documents/columns.ts';
import { comparingIds, EVERYTHING, type Filter, isEqual, isFieldName } from '../documents/filter.ts';
import { documentsPort, findPage, LIMITS, MATCHES_MAX, patchOf, withId } from '../documents/paging.ts';
import { parseFilter, parseOrderBy } from '../documents/parse-filter.ts';
import { checkColumns } from './check-columns.ts';

const { optional } = s;
const ColumnName = Type.Refine(Type.String(), isFieldName, () => 'must be the name of a column');
const ColumnTypes = Type.Union([
  Type.Literal('string'),
  Type.Literal('number'),
  Type.Literal('boolean'),
  Type.Literal('json'),
]);
const In = { table: s.CollectionText };
const At = { ...In, rowId: s.Name };
const Matching = { ...In, filter: s.FilterObject };

export const TABLE_LIMITS: DocumentLimits = {
  ...LIMITS,
  full: 'table_row_limit_reached',
  absent: 'table_not_found',
};

const idToo = also({ id: 'rowId' });

export const tableSurface = defineSurface({
  capability: 'tableStorage',
  spellings: [
    { call: 'insert', gives: [idToo] },
    {
      call: 'update',
      when: 'filter',
      to: 'updateWhere',
      takes: [either('rowId', 'filter'), rename({ update: 'patch' })],
    },
    { call: 'delete', when: 'filter', to: 'deleteWhere', takes: [either('rowId', 'filter')] },
    {
      call: 'upsert',
      gives: [idToo, member('updated', 'the opposite of `inserted`', ({ inserted }) => inserted === false)],
    },
  ],
  summary:
    'Tables of rows with typed columns. Each tenant sees its own tables only. A row has an `id`, which is its ' +
    '`rowId`; one without gets a new one, a text. Columns are declared, or get the type of their first value. `insert` and ' +
    '`upsert` make a table that is not there; every other method refuses it with `table_not_found`. Filters are ' +
    'those of `nosql`; on a declared table, one that names a column which is not there is refused, and so are `orderBy` ' +
    'and `patch`.',
  journal: 'own',
  opens: opening(documentsPort(TABLE_LIMITS), implementTable),
  limits: { maxRowsPerTable: TABLE_LIMITS.documentsMax, maxColumnsPerRow: COLUMNS_MAX },
  errors: ['table_schema_violation', 'table_row_limit_reached', 'table_not_found', 'not_found', 'conflict'],
  methods: {
    createTable: writes(
      'Declares the columns of a table; it then has no others. One that rows have made is closed so, if all of them ' +
        'fit. `id` needs no declaration. The type of a column is `string`, `number`, `boolean` or `json`. Equality on columns in `indexes` is answered without reading every row.',
      {
        name: s.CollectionText,
        schema: Type.Record(Type.String(), ColumnTypes),
        indexes: optional(Type.Array(ColumnName, { maxItems: INDEXES_MAX })),
      },
      s.Done,
    ),
    insert: writes(
      'Adds a row; the first one makes the table.',
      { ...In, row: s.PlainObject },
      { rowId: s.Text },
    ),
    get: reads('The row, or nothing.', At, { row: optional(s.AnyObject) }),
    query: reads(
      'Rows that match, in the order of insertion or by `orderBy` (`name`, `-age` for backwards), page by page; ' +
        `the last has no \`nextCursor\`. ${s.PAGES}`,
      {
        ...In,
        filter: optional(s.FilterObject),
        orderBy: optional(Type.Array(Type.String(), { maxItems: 8 })),
        ...s.Paging,
        cursor: optional(Type.Union([s.Cursor, Type.Null()])),
      },
      { rows: Type.Array(s.AnyObject), ...s.Following },
    ),
    count: reads('How many rows match.', { ...In, filter: optional(s.FilterObject) }, { count: s.Count }),
    update: writes('Replaces the columns of `patch` in one row.', { ...At, patch: s.PlainObject }, s.Done),
    updateWhere: writes(
      'Replaces the columns of `patch` in all rows that match.',
      { ...Matching, patch: s.PlainObject },
      { updated: s.Count },
    ),
    upsert: writes(
      'Changes the row that has the same values in `keyColumns` (`id`), or inserts one. The key columns are indexed.',
      {
        ...In,
        row: s.PlainObject,
        keyColumns: optional(Type.Array(ColumnName, { minItems: 1, maxItems: 8 })),
      },
      { rowId: s.Text, inserted: s.Flag },
    ),
    delete: writes('Removes a row.', At, { deleted: s.Flag }),
    deleteWhere: writes('Removes all rows that match.', Matching, { deleted: s.Count }),
  },
});

const nameOf = (table: string): CollectionName => ({ space: 'table', collection: table });
const filterOf = (filter: JsonObject | undefined) =>
  filter === undefined ? EVERYTHING : comparingIds(parseFilter(filter, 'validation_error'));
const oneRow = (table: string, rowId: string) => ({
  ...nameOf(table),
  filter: { kind: 'id', ids: [rowId] } as const,
  matchesMax: 1,
});

/** The port is opened with `TABLE_LIMITS`. */
export function implementTable({ port, cursors }: Over<DocumentsPort>): ImplementedSurface {
  return tableSurface.implement(
    {
      async createTable({ name, schema, indexes = [] }, call) {
        checkSchema(schema, indexes);
        await port.declare({ ...nameOf(name), columns: { closed: true, types: schema }, indexes }, call);
        return { ok: true };
      },
      async insert({ table, row }, call) {
        const added = withId(row, call.invocation);
        await port.insert({ ...nameOf(table), documents: [added], typed: true }, call);
        return { rowId: added.id };
      },
      async get({ table, rowId }, call) {
        const row = await port.get({ ...nameOf(table), id: rowId }, call);
        return row === null ? {} : { row };
      },
      async query({ table, filter, orderBy = [], cursor, limit }, call) {
        const request = {
          filter: filterOf(filter),
          sort: parseOrderBy(orderBy, 'validation_error'),
          cursor: cursor ?? undefined,
          limit,
        };
        await checkColumns(port, nameOf(table), request, call);
        const { documents, next } = await findPage({ port, cursors }, nameOf(table), request, call);
        return { rows: documents, ...(next !== null && { nextCursor: next }) };
      },
      async count({ table, filter }, call) {
        const asked = { ...nameOf(table), filter: filterOf(filter) };
        await checkColumns(port, asked, asked, call);
        return { count: await port.count(asked, call) };
      },
      async update({ table, rowId, patch }, call) {
        const change = { ...oneRow(table, rowId), patch: patchOf(patch, rowId) };
        await checkColumns(port, change, change, call);
        await port.patch({ ...change, whenNone: { do: 'refuse' } }, call);
        return { ok: true };
      },
      async updateWhere({ table, filter, patch }, call) {
        const which = { ...nameOf(table), filter: filterOf(filter), matchesMax: MATCHES_MAX };
        const change = { ...which, patch: patchOf(patch) };
        await checkColumns(port, change, change, call);
        const { matched } = await port.patch({ ...change, whenNone: { do: 'answer' } }, call);
        return { updated: matched };
      },
      upsert: ({ table, row, keyColumns = ['id'] }, call) => upsert(port, { table, row, keyColumns }, call),
      async delete({ table, rowId }, call) {
        return { deleted: (await port.delete(oneRow(table, rowId), call)).deleted > 0 };
      },
      async deleteWhere({ table, filter }, call) {
        const change = { ...nameOf(table), filter: filterOf(filter), matchesMax: MATCHES_MAX };
        await checkColumns(port, change, change, call);
        return port.delete(change, call);
      },
    },
    { advertises: { indexable: true, fullTextSearch: false } },
  );
}

const violation = (message: string): OpenwopError => new OpenwopError('table_schema_violation', { message });

function checkSchema(schema: Readonly<Record<string, ColumnType>>, indexes: readonly string[]): void {
  const names = Object.keys(schema);
  if (columnsIn(schema) > COLUMNS_MAX)
    throw violation(`A table can have at most ${COLUMNS_MAX} columns beside \`id\`.`);
  const odd = names.find((name) => !isFieldName(name));
  if (odd !== undefined)
    throw violation('A column name must not contain dots, quotes or backslashes, or begin with $.');
  if (Object.hasOwn(schema, 'id') && schema.id !== 'string' && schema.id !== 'number')
    throw violation('The column `id` must hold strings or numbers.');
  const unknown = indexes.find((name) => !Object.hasOwn(schema, name));
  if (unknown !== undefined) throw violation(`The index "${unknown}" names no column.`);
}

interface Upsert {
  readonly table: string;
  readonly row: JsonObject;
  readonly keyColumns: readonly string[];
}

async function upsert(port: DocumentsPort, { table, row, keyColumns }: Upsert, call: WriteCall) {
  const keys = keyColumns.map((column): Filter => {
    const value = Object.hasOwn(row, column) ? row[column] : undefined;
    if (value === undefined || value === null)
      throw violation(`The row has no value in the key column "${column}".`);
    return column === 'id' ? { kind: 'id', ids: [String(value)] } : isEqual([column], value);
  });
  const added = withId(row, call.invocation);
  if (Object.hasOwn(row, 'id') && !keyColumns.includes('id'))
    throw violation('The row has an `id`, which is not a key column. Omit it, or add it to `keyColumns`.');
  const { matched, id } = await port.patch(
    {
      ...nameOf(table),
      filter: { kind: 'all', of: keys },
      matchesMax: 1,
      patch: patchOf(row, added.id),
      whenNone: { do: 'insert', ...added, typed: true, indexes: keyColumns },
    },
    call,
  );
  return { rowId: id ?? added.id, inserted: matched === 0 };
}
