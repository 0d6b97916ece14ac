/** `ctx.storage.table`: rows with typed columns. */
import { type JsonObject, OpenwopError } from '@gantry/protocol';
import Type from 'typebox';
import {
  defineSurface,
  type ImplementedSurface,
  namesOf,
  reads,
  writes,
} from '../../calls/define-surface.ts';
import { Cursor, Name, PAGES, PageLimit } from '../../calls/schema.ts';
import { also, either, member, rename, type Spelling } from '../../calls/spelling.ts';
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
import { CollectionText, FilterObject, PlainObject } from '../documents/plain.ts';
import { checkColumns } from './check-columns.ts';

const optional = Type.Optional;
const Count = Type.Integer({ minimum: 0 });
const Row = Type.Record(Type.String(), Type.Unknown());
const ColumnName = Type.Refine(Type.String(), isFieldName, () => 'must be the name of a column');
const At = { table: CollectionText, rowId: Name };

export const TABLE_LIMITS: DocumentLimits = {
  ...LIMITS,
  full: 'table_row_limit_reached',
  absent: 'table_not_found',
};

const SPELLINGS: readonly Spelling[] = [
  { path: 'storage.table.insert', to: 'tableStorage.insert', gives: [also({ id: 'rowId' })] },
  {
    path: 'storage.table.update',
    when: 'filter',
    to: 'tableStorage.updateWhere',
    takes: [either('rowId', 'filter'), rename({ update: 'patch' })],
  },
  {
    path: 'storage.table.delete',
    when: 'filter',
    to: 'tableStorage.deleteWhere',
    takes: [either('rowId', 'filter')],
  },
  {
    path: 'storage.table.upsert',
    to: 'tableStorage.upsert',
    gives: [
      also({ id: 'rowId' }),
      member('updated', 'the opposite of `inserted`', ({ inserted }) => inserted === false),
    ],
  },
];

export const tableSurface = defineSurface({
  ...namesOf('tableStorage'),
  spellings: SPELLINGS,
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
        name: CollectionText,
        schema: Type.Record(
          Type.String(),
          Type.Union([
            Type.Literal('string'),
            Type.Literal('number'),
            Type.Literal('boolean'),
            Type.Literal('json'),
          ]),
        ),
        indexes: optional(Type.Array(ColumnName, { maxItems: INDEXES_MAX })),
      },
      { ok: Type.Literal(true) },
    ),
    insert: writes(
      'Adds a row; the first one makes the table.',
      { table: CollectionText, row: PlainObject },
      { rowId: Type.String() },
    ),
    get: reads('The row, or nothing.', At, { row: optional(Row) }),
    query: reads(
      'Rows that match, in the order of insertion or by `orderBy` (`name`, `-age` for backwards), page by page; ' +
        `the last has no \`nextCursor\`. ${PAGES}`,
      {
        table: CollectionText,
        filter: optional(FilterObject),
        orderBy: optional(Type.Array(Type.String(), { maxItems: 8 })),
        cursor: optional(Type.Union([Cursor, Type.Null()])),
        limit: optional(PageLimit),
      },
      { rows: Type.Array(Row), nextCursor: optional(Type.String()) },
    ),
    count: reads(
      'How many rows match.',
      { table: CollectionText, filter: optional(FilterObject) },
      { count: Count },
    ),
    update: writes(
      'Replaces the columns of `patch` in one row.',
      { ...At, patch: PlainObject },
      { ok: Type.Literal(true) },
    ),
    updateWhere: writes(
      'Replaces the columns of `patch` in all rows that match.',
      { table: CollectionText, filter: FilterObject, patch: PlainObject },
      { updated: Count },
    ),
    upsert: writes(
      'Changes the row that has the same values in `keyColumns` (`id`), or inserts one. The key columns are indexed.',
      {
        table: CollectionText,
        row: PlainObject,
        keyColumns: optional(Type.Array(ColumnName, { minItems: 1, maxItems: 8 })),
      },
      { rowId: Type.String(), inserted: Type.Boolean() },
    ),
    delete: writes('Removes a row.', At, { deleted: Type.Boolean() }),
    deleteWhere: writes(
      'Removes all rows that match.',
      { table: CollectionText, filter: FilterObject },
      { deleted: Count },
    ),
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

/** The port has `TABLE_LIMITS`. */
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
    throw violation(`A table has at most ${COLUMNS_MAX} columns beside \`id\`.`);
  const odd = names.find((name) => !isFieldName(name));
  if (odd !== undefined)
    throw violation('A column is a name without dots, quotes, backslashes and a $ at its beginning.');
  if (Object.hasOwn(schema, 'id') && schema.id !== 'string' && schema.id !== 'number')
    throw violation('The column `id` holds texts or numbers.');
  const unknown = indexes.find((name) => !Object.hasOwn(schema, name));
  if (unknown !== undefined) throw violation(`The index "${unknown}" is of no column.`);
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
    throw violation('The row has an `id`, which is no key column. Leave it out, or name it in `keyColumns`.');
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
