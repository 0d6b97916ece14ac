/** Documents are jsonb. Every parameter is text with an explicit cast, so the driver infers no types. */
import type { Json, JsonObject } from '@gantry/protocol';
import type { Filter, Path } from '../capabilities/documents/filter.ts';
import {
  type Bind,
  cellCounts,
  type Dialect,
  type Scope,
  SORTED_CHARACTERS,
  type Value,
} from '../capabilities/documents/query-sql.ts';
import type { Sql, Tx } from './connection.ts';

/** A text operand of `->` matches only objects; a number would also match arrays. */
const valueAt = (path: Path, bind: Bind): string =>
  `(doc${path.map((name) => ` -> ${bind(name)}::text`).join('')})`;

export const POSTGRES: Dialect = {
  placeholder: (position) => `$${position}`,
  in(path, values, bind) {
    const value = `coalesce(${valueAt(path, bind)}, 'null'::jsonb)`;
    const [only, ...more] = values;
    return more.length === 0
      ? `${value} = ${bind(JSON.stringify(only))}::text::jsonb`
      : `${value} in (select jsonb_array_elements(${bind(JSON.stringify(values))}::text::jsonb))`;
  },
  compare(path, is, operand, bind) {
    const value = valueAt(path, bind);
    return typeof operand === 'number'
      ? `coalesce(jsonb_typeof(${value}) = 'number' and ${value} ${is} ${bind(JSON.stringify(operand))}::text::jsonb, false)`
      : `coalesce(jsonb_typeof(${value}) = 'string' and (${value} #>> '{}') collate "C" ${is} ${bind(operand)}::text, false)`;
  },
  exists: (path, bind) => `${valueAt(path, bind)} is not null`,
  order(path, bind) {
    const value = valueAt(path, bind);
    const type = `jsonb_typeof(${value})`;
    return [
      `case ${type} when 'boolean' then 1 when 'number' then 2 when 'string' then 3 when 'array' then 4 ` +
        `when 'object' then 4 else 0 end`,
      `case ${type} when 'number' then (${value} #>> '{}')::float8 ` +
        `when 'boolean' then (${value} #>> '{}')::boolean::integer::float8 else 0 end`,
      `case ${type} when 'string' then left(${value} #>> '{}', ${SORTED_CHARACTERS}) else '' end collate "C"`,
    ];
  },
  cell: (value, bind) => `left((${bind(JSON.stringify(value))}::text::jsonb)::text, 64)`,
  // `offset 0` keeps the planner from using another join: it cannot estimate how many documents match a
  // condition, and would choose to read all of them
  documentsOfCells:
    'cells cross join lateral (select id, doc, bytes from documents ' +
    'where documents.collection = cells.collection and documents.seq = cells.seq offset 0) as documents',
};

/** Uses only the index that matches the fewest documents. */
export async function byRarest(sql: Sql | Tx, scope: Scope, filter: Filter): Promise<Scope> {
  const counts = cellCounts(POSTGRES, scope, filter);
  const [row] = counts ? await runText<Record<string, unknown>>(sql, counts) : [];
  return counts && row ? counts.choose(row) : scope;
}

export const documentOf = <T extends JsonObject = JsonObject>(text: string): T =>
  withSortedMembers(JSON.parse(text)) as T;

/** Own members, even if the name is `__proto__`. */
const withSortedMembers = (object: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.keys(object)
      .sort()
      .map((name) => [name, sorted(object[name]!)]),
  );

function sorted(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? value.map(sorted) : withSortedMembers(value);
}

/** Each connection keeps its prepared statements; few shapes of filters are in use. */
const PREPARED_MAX = 200;
const prepared = new Set<string>();

/** Runs SQL built by a `QueryText`. A prepared statement saves one round trip. */
export function runText<Row extends object>(
  sql: Sql | Tx,
  { text, params }: { readonly text: string; readonly params: Value[] },
) {
  if (prepared.size < PREPARED_MAX) prepared.add(text);
  return sql.unsafe<Row[]>(text, params, { prepare: prepared.has(text) });
}
