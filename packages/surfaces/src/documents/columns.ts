/** What the rows of a table look like. Threads load this file. */
import type { Json, JsonObject } from '@gantry/protocol';
import { Refusal } from '../embedded/wire.ts';
import { isFieldName } from './filter.ts';

export type ColumnType = 'string' | 'number' | 'boolean' | 'json';

export interface Columns {
  /** Declared: no column is added. Else a new one gets the type of its first value. */
  readonly closed: boolean;
  readonly types: Readonly<Record<string, ColumnType>>;
}

export const COLUMNS_MAX = 64;
export const UNDECLARED: Columns = { closed: false, types: {} };

/** The columns with those that the row adds; refuses a row that does not fit. Null fits everywhere. */
export function fit(columns: Columns, row: JsonObject): Columns {
  const types = new Map(Object.entries(columns.types));
  for (const [name, value] of Object.entries(row)) {
    const declared = types.get(name);
    if (declared === undefined) admit(columns, types, name, value);
    else if (value !== null && declared !== 'json' && typeof value !== declared)
      throw violation(
        `The column "${name}" holds ${declared} values; the row has ${kindOf(value)} there.`,
        name,
      );
  }
  if (types.size > COLUMNS_MAX) throw violation(`A table has at most ${COLUMNS_MAX} columns.`);
  return types.size === Object.keys(columns.types).length
    ? columns
    : { closed: columns.closed, types: Object.fromEntries(types) };
}

/** A row's `id` needs no declaration. */
function admit({ closed }: Columns, types: Map<string, ColumnType>, name: string, value: Json): void {
  if (closed && name === 'id') return;
  if (closed) throw violation(`The table has no column "${name}".`, name);
  if (!isFieldName(name))
    throw violation('A column is a name without dots, quotes, backslashes and a $ at its beginning.', name);
  if (value !== null) types.set(name, kindOf(value));
}

function kindOf(value: Json): ColumnType {
  const kind = typeof value;
  return kind === 'string' || kind === 'number' || kind === 'boolean' ? kind : 'json';
}

const violation = (message: string, column?: string): Refusal =>
  new Refusal('table_schema_violation', { message, ...(column !== undefined && { details: { column } }) });

export const sameColumns = (left: Columns, right: Columns): boolean =>
  Object.keys(left.types).length === Object.keys(right.types).length &&
  Object.entries(left.types).every(
    ([name, type]) => Object.hasOwn(right.types, name) && right.types[name] === type,
  );
