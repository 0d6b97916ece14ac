import type { Value } from '../capabilities/documents/query-sql.ts';
import type { Sql, Tx } from './connection.ts';

/** Each connection keeps what is prepared on it; the shapes of filters in use are few. */
const PREPARED_MAX = 200;
const prepared = new Set<string>();

/** Runs SQL that a `QueryText` made. Prepared, it costs one round trip less. */
export function runText<Row extends object>(
  sql: Sql | Tx,
  { text, params }: { readonly text: string; readonly params: Value[] },
) {
  if (prepared.size < PREPARED_MAX) prepared.add(text);
  return sql.unsafe<Row[]>(text, params, { prepare: prepared.has(text) });
}
