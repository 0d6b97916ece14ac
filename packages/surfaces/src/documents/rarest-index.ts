/** Which of several indexes leads to the fewest documents. Threads load this file. */
import { equalities, type Filter } from './filter.ts';
import { type Dialect, namesId, type Scope, type Value } from './query-sql.ts';

/** What is more common counts as equally common: counting further costs more than it tells. */
const COUNTED_MAX = 1_000;

export interface CellCounts {
  readonly text: string;
  readonly params: Value[];
  /** The scope with the rarest of them alone, given the row that was answered. */
  choose(row: Readonly<Record<string, unknown>>): Scope;
}

/** Null where there is no choice. */
export function cellCounts(dialect: Dialect, scope: Scope, filter: Filter): CellCounts | null {
  const asked = equalities(filter);
  const fields = scope.indexes.filter((name) => asked.has(name));
  if (fields.length < 2 || namesId(filter)) return null;
  const params: Value[] = [];
  const bind = (value: Value): string => dialect.placeholder(params.push(value));
  const counts = fields.map(
    (field, place) =>
      `(select count(*) from (select 1 from cells where collection = ${bind(scope.collection)} and field = ${bind(field)} ` +
      `and value = ${dialect.cell(asked.get(field)!, bind)} limit ${COUNTED_MAX}) as counted) as many${place}`,
  );
  return {
    text: `select ${counts.join(', ')}`,
    params,
    choose(row) {
      const many = fields.map((_, place) => Number(row[`many${place}`]));
      return { ...scope, indexes: [fields[many.indexOf(Math.min(...many))]!] };
    },
  };
}
