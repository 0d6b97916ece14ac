/** Rows as their statement's columns name them: the one place that trusts the shape of a query. */
import type { SQLInputValue, StatementSync } from 'node:sqlite';

/**
 * The end of a statement that answers at most so many. SQLite plans a statement with a bare parameter there anew at
 * every run, since how many may change the plan; measured: 10 to 40 microseconds for what then takes 1 to 7.
 */
export const LIMIT = 'limit ? + 0';

export function selectAll<T extends object>(statement: StatementSync, ...values: SQLInputValue[]): T[] {
  const rows: object[] = statement.all(...values);
  return rows as T[];
}

/** Row by row, for readers that may stop early. */
export function selectEach<T extends object>(
  statement: StatementSync,
  ...values: SQLInputValue[]
): Iterable<T> {
  const rows: Iterable<object> = statement.iterate(...values);
  return rows as Iterable<T>;
}

export function selectOne<T extends object>(statement: StatementSync, ...values: SQLInputValue[]): T | null {
  const row: object | undefined = statement.get(...values);
  return row ? (row as T) : null;
}
