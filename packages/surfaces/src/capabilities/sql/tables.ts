/** Rows of a workflow as tables. Columns are the members of the rows, in the order in which they come up. */
import { OpenwopError } from '@gantry/protocol';
import { type Data, type DataObject, isObject } from '../../calls/data.ts';
import type { SqlValue } from '../../ports/sql.ts';
import type { SqliteTable } from '../../sql-drivers/sqlite-wire.ts';
import { sqlValueOf } from './template.ts';

const TABLES_MAX = 32;
const COLUMNS_MAX = 256;
const ROWS_MAX = 100_000;
/** [m] 120 ms of the main thread. What one call can carry has hardly more, unless most are empty. */
const CELLS_MAX = 500_000;

export function tablesOf(given: Readonly<Record<string, readonly Data[]>>): SqliteTable[] {
  const entries = Object.entries(given);
  const rows = entries.reduce((sum, [, each]) => sum + each.length, 0);
  if (entries.length > TABLES_MAX) throw invalid(`There are more than ${TABLES_MAX} tables.`);
  if (rows > ROWS_MAX) throw invalid(`The tables have more than ${ROWS_MAX} rows in all.`);
  const names = new Set(entries.map(([name]) => name.toLowerCase()));
  if (names.size < entries.length)
    throw invalid('Two tables have the same name; SQL does not tell case apart.');
  const tables = entries.map(([name, each]) => ({ name, each, columns: columnsOf(name, each) }));
  const cells = tables.reduce((sum, { each, columns }) => sum + each.length * columns.size, 0);
  if (cells > CELLS_MAX)
    throw invalid(
      `The tables have more than ${CELLS_MAX} cells in all: rows times the members that any row has.`,
    );
  return tables.map(({ name, each, columns }) => ({
    name,
    columns: columns.kinds(),
    rows: each.map((row) => columns.rowOf(row as DataObject)),
  }));
}

function columnsOf(name: string, given: readonly Data[]): Columns {
  if (!/^[A-Za-z]\w{0,63}$/.test(name) || /^(?:sqlite|gantry)_/i.test(name))
    throw invalid(`"${name.slice(0, 64)}" is no name for a table.`);
  const columns = new Columns(name);
  for (const [index, row] of given.entries()) {
    if (!isObject(row)) throw invalid(`Row ${index} of "${name}" is no object.`);
    columns.meet(row);
  }
  return columns;
}

interface Column {
  readonly name: string;
  readonly index: number;
  hasBooleans: boolean;
  hasOthers: boolean;
}

class Columns {
  readonly #table: string;
  readonly #byName = new Map<string, Column>();
  readonly #byLowerCase = new Map<string, string>();

  constructor(table: string) {
    this.#table = table;
  }

  get size(): number {
    return this.#byName.size;
  }

  meet(row: DataObject): void {
    for (const [name, value] of Object.entries(row)) {
      const column = this.#byName.get(name) ?? this.#add(name);
      if (typeof value === 'boolean') column.hasBooleans = true;
      else if (value !== null && value !== undefined) column.hasOthers = true;
    }
  }

  /** So that true reads back as true. */
  kinds(): SqliteTable['columns'] {
    return [...this.#byName.values()].map(({ name, hasBooleans, hasOthers }) => ({
      name,
      isBoolean: hasBooleans && !hasOthers,
    }));
  }

  rowOf(row: DataObject): SqlValue[] {
    const values = new Array<SqlValue>(this.size).fill(null);
    for (const [name, value] of Object.entries(row))
      values[this.#byName.get(name)!.index] = sqlValueOf(value ?? null);
    return values;
  }

  #add(name: string): Column {
    const known = this.#byLowerCase.get(name.toLowerCase());
    if (known !== undefined)
      throw invalid(`"${known}" and "${name}" of "${this.#table}" differ in case only.`);
    if (name === '' || !name.isWellFormed() || name.includes('\0'))
      throw invalid(`"${this.#table}" has a member whose name no column can have.`);
    if (this.size === COLUMNS_MAX) throw invalid(`"${this.#table}" has more than ${COLUMNS_MAX} columns.`);
    const column = { name, index: this.size, hasBooleans: false, hasOthers: false };
    this.#byName.set(name, column);
    this.#byLowerCase.set(name.toLowerCase(), name);
    return column;
  }
}

const invalid = (message: string): OpenwopError => new OpenwopError('validation_error', { message });
