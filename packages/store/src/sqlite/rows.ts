/** Rows as their statement's columns name them: the one place that trusts the shape of a query. */
import type { SQLInputValue, StatementSync } from 'node:sqlite';

export function selectAll<T extends object>(statement: StatementSync, ...values: SQLInputValue[]): T[] {
  const rows: object[] = statement.all(...values);
  return rows as T[];
}

export function selectOne<T extends object>(statement: StatementSync, ...values: SQLInputValue[]): T | null {
  const row: object | undefined = statement.get(...values);
  return row ? (row as T) : null;
}
