/** Rows of a workflow as tables. Columns are the members of the rows, in the order in which they come up. */
import { OpenwopError } from '@gantry/protocol';
import { type Data, type DataObject, isObject } from '../data.ts';
import type { SqliteTable } from '../sql-drivers/sqlite-wire.ts';
import { sqlValueOf } from './template.ts';

const TABLES_MAX = 32;
const COLUMNS_MAX = 256;
const ROWS_MAX = 100_000;

export function tablesOf(given: Readonly<Record<string, readonly Data[]>>): SqliteTable[] {
  const entries = Object.entries(given);
  const rows = entries.reduce((sum, [, each]) => sum + each.length, 0);
  if (entries.length > TABLES_MAX) throw invalid(`There are more than ${TABLES_MAX} tables.`);
  if (rows > ROWS_MAX) throw invalid(`The tables have more than ${ROWS_MAX} rows in all.`);
  const names = new Set(entries.map(([name]) => name.toLowerCase()));
  if (names.size < entries.length)
    throw invalid('Two tables have the same name; SQL does not tell case apart.');
  return entries.map(([name, each]) => tableOf(name, each));
}

function tableOf(name: string, given: readonly Data[]): SqliteTable {
  if (!/^[A-Za-z]\w{0,63}$/.test(name) || /^(?:sqlite|gantry)_/i.test(name))
    throw invalid(`"${name.slice(0, 64)}" is no name for a table.`);
  const rows = given.map((row, index) => {
    if (isObject(row)) return row;
    throw invalid(`Row ${index} of "${name}" is no object.`);
  });
  const columns = columnsOf(name, rows);
  return {
    name,
    columns: columns.map((column) => ({ name: column, isBoolean: isBoolean(rows, column) })),
    rows: rows.map((row) => columns.map((column) => sqlValueOf(memberOf(row, column)))),
  };
}

function columnsOf(table: string, rows: readonly DataObject[]): string[] {
  const columns = new Map<string, string>();
  for (const name of rows.flatMap(Object.keys)) {
    const known = columns.get(name.toLowerCase()) ?? name;
    if (known !== name) throw invalid(`"${known}" and "${name}" of "${table}" differ in case only.`);
    if (name === '' || !name.isWellFormed() || name.includes('\0'))
      throw invalid(`"${table}" has a member whose name no column can have.`);
    columns.set(name.toLowerCase(), name);
  }
  if (columns.size > COLUMNS_MAX) throw invalid(`"${table}" has more than ${COLUMNS_MAX} columns.`);
  return [...columns.values()];
}

const memberOf = (row: DataObject, column: string): Data =>
  Object.hasOwn(row, column) ? (row[column] ?? null) : null;

/** So that true reads back as true. */
function isBoolean(rows: readonly DataObject[], column: string): boolean {
  const values = rows.map((row) => memberOf(row, column)).filter((value) => value !== null);
  return values.length > 0 && values.every((value) => typeof value === 'boolean');
}

const invalid = (message: string): OpenwopError => new OpenwopError('validation_error', { message });
