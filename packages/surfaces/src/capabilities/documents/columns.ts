/** The columns of a table. Threads load this file. */
import type { Json, JsonObject } from '@gantry/protocol';
import { Refusal } from '../../refusal.ts';
import { EVERYTHING, type Filter, isEqual, isFieldName } from './filter.ts';

export type ColumnType = 'string' | 'number' | 'boolean' | 'json';

export interface Columns {
  /** Declared: no column is added. Otherwise a new one gets the type of its first value. */
  readonly closed: boolean;
  readonly types: Readonly<Record<string, ColumnType>>;
}

export const COLUMNS_MAX = 64;
export const UNDECLARED: Columns = { closed: false, types: {} };

/** Apart from `id`, which every row has. A null column counts too. */
export const columnsIn = (row: object): number => Object.keys(row).filter((name) => name !== 'id').length;

export function checkWidth(row: JsonObject): void {
  if (columnsIn(row) > COLUMNS_MAX)
    throw violation(`A row can have at most ${COLUMNS_MAX} columns beside \`id\`, including null values.`);
}

/** The columns including those that the row adds; refuses a row that does not fit. Null fits everywhere. */
export function fit(columns: Columns, row: JsonObject): Columns {
  checkWidth(row);
  const types = new Map(Object.entries(columns.types));
  for (const [name, value] of Object.entries(row)) {
    const declared = types.get(name);
    if (declared === undefined) admit(columns, types, name, value);
    else if (value !== null && declared !== 'json' && typeof value !== declared)
      throw misfit(name, declared, value);
  }
  if (types.size - Number(types.has('id')) > COLUMNS_MAX)
    throw violation(`A table can have at most ${COLUMNS_MAX} columns beside \`id\`.`);
  return types.size === Object.keys(columns.types).length
    ? columns
    : { closed: columns.closed, types: Object.fromEntries(types) };
}

/** The `id` may be one that the host generated. */
const misfit = (name: string, declared: ColumnType, value: Json): Refusal =>
  name === 'id'
    ? violation(`The ids of this table are of the type ${declared}. Give the row such an \`id\`.`, name)
    : violation(`The column "${name}" holds ${declared} values; the row has ${kindOf(value)} there.`, name);

/** A row's `id` needs no declaration. */
function admit({ closed }: Columns, types: Map<string, ColumnType>, name: string, value: Json): void {
  if (closed && name === 'id') return;
  if (closed) throw violation(`The table has no column "${name}".`, name);
  if (!isFieldName(name))
    throw violation('A column name must not contain dots, quotes or backslashes, or begin with $.', name);
  if (value !== null) types.set(name, kindOf(value));
}

function kindOf(value: Json): ColumnType {
  const kind = typeof value;
  return kind === 'string' || kind === 'number' || kind === 'boolean' ? kind : 'json';
}

const violation = (message: string, column?: string): Refusal =>
  new Refusal('table_schema_violation', { message, ...(column !== undefined && { details: { column } }) });

/** The columns of a table after this declaration; null if it was declared with others. */
export function declared(found: Columns, wanted: Columns): Columns | null {
  if (!found.closed) return wanted;
  const isSame = isWithin(found, wanted) && isWithin(wanted, found);
  return isSame ? { closed: true, types: { ...found.types, ...wanted.types } } : null;
}

const isWithin = (inner: Columns, outer: Columns): boolean =>
  Object.entries(inner.types).every(([name, type]) => {
    const other = typeOf(outer, name);
    return other === type || (other === undefined && name === 'id');
  });

const typeOf = ({ types }: Columns, name: string): ColumnType | undefined =>
  Object.hasOwn(types, name) ? types[name] : undefined;

/** Matches values that fit and are not null. */
const OF_TYPE: Readonly<Record<ColumnType, (name: string) => Filter>> = {
  string: (name) => ({ kind: 'compare', path: [name], is: '>=', value: '' }),
  number: (name) => ({
    kind: 'any',
    of: [
      { kind: 'compare', path: [name], is: '>=', value: 0 },
      { kind: 'compare', path: [name], is: '<', value: 0 },
    ],
  }),
  boolean: (name) => ({ kind: 'in', path: [name], values: [true, false] }),
  json: () => EVERYTHING,
};

/** The rows that would not fit new columns; null if all do. Only changed columns count, and null always fits. */
export function misfits(found: Columns, wanted: Columns): Filter | null {
  const names = new Set([...Object.keys(found.types), 'id']);
  const of = [...names].flatMap((name): Filter[] => {
    const type = typeOf(wanted, name);
    if (type === 'json' || type === typeOf(found, name) || (type === undefined && name === 'id')) return [];
    const fitting = [isEqual([name], null), ...(type === undefined ? [] : [OF_TYPE[type](name)])];
    return [{ kind: 'not', of: { kind: 'any', of: fitting } }];
  });
  return of.length === 0 ? null : { kind: 'any', of };
}
