/** Rows of a workflow as tables. Columns are the members of the rows, in order of first occurrence. */
import { invalid } from '@gantry/protocol';
import { type Data, type DataObject, isObject } from '../../calls/data.ts';
import type { SqlValue } from '../../ports/sql.ts';
import type { SqliteTable } from '../../sql-drivers/sqlite-wire.ts';
import { sqlValueOf } from './template.ts';

const TABLES_MAX = 32;
const COLUMNS_MAX = 256;
const ROWS_MAX = 100_000;
/** Measured: 120 ms of the main thread. One call can hardly contain more, unless most cells are empty. */
const CELLS_MAX = 500_000;

export function tablesOf(given: Readonly<Record<string, readonly Data[]>>): SqliteTable[] {
  const entries = Object.entries(given);
  const rows = entries.reduce((sum, [, each]) => sum + each.length, 0);
  if (entries.length > TABLES_MAX) throw invalid(`There are more than ${TABLES_MAX} tables.`);
  if (rows > ROWS_MAX) throw invalid(`The tables have more than ${ROWS_MAX} rows in all.`);
  const names = new Set(entries.map(([name]) => name.toLowerCase()));
  if (names.size < entries.length) throw invalid('Two tables have the same name; SQL ignores case.');
  const tables = entries.map(([name, each]) => ({ name, each, columns: columnsOf(name, each) }));
  const cells = tables.reduce((sum, { each, columns }) => sum + each.length * columns.length, 0);
  if (cells > CELLS_MAX)
    throw invalid(
      `The tables have more than ${CELLS_MAX} cells in all: rows times the members that any row has.`,
    );
  return tables.map(({ name, each, columns }) => ({
    name,
    columns: columns.map((column) => ({ name: column.name, isBoolean: column.kind === 'boolean' })),
    rows: each.map((row) => columns.map((column) => valueIn(row as DataObject, column))),
  }));
}

/** `boolean` if it has only booleans, so that true reads back as true. */
interface Column {
  readonly name: string;
  kind: 'empty' | 'boolean' | 'other';
}

function columnsOf(table: string, given: readonly Data[]): Column[] {
  if (!/^[A-Za-z]\w{0,63}$/.test(table) || /^(?:sqlite|gantry)_/i.test(table))
    throw invalid(`"${table.slice(0, 64)}" is not a valid table name.`);
  /** By lower-case name. */
  const columns = new Map<string, Column>();
  for (const [index, row] of given.entries()) {
    if (!isObject(row)) throw invalid(`Row ${index} of "${table}" is not an object.`);
    for (const [name, value] of Object.entries(row)) {
      const column = columns.get(name.toLowerCase()) ?? { name, kind: 'empty' };
      if (column.name !== name)
        throw invalid(`"${column.name}" and "${name}" of "${table}" differ in case only.`);
      if (!columns.has(name.toLowerCase())) checkColumn(table, name, columns.size);
      if (typeof value !== 'boolean' && value !== null && value !== undefined) column.kind = 'other';
      else if (typeof value === 'boolean' && column.kind === 'empty') column.kind = 'boolean';
      columns.set(name.toLowerCase(), column);
    }
  }
  return [...columns.values()];
}

function checkColumn(table: string, name: string, columns: number): void {
  if (name === '' || !name.isWellFormed() || name.includes('\0'))
    throw invalid(`"${table}" has a member whose name no column can have.`);
  if (columns === COLUMNS_MAX) throw invalid(`"${table}" has more than ${COLUMNS_MAX} columns.`);
}

const valueIn = (row: DataObject, { name }: Column): SqlValue =>
  Object.hasOwn(row, name) ? sqlValueOf(row[name] ?? null) : null;
