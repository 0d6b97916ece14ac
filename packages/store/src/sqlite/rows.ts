/** Statements as functions of their parameters, with typed rows. Only this module trusts the shape of a query. */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { insertInto, type Table } from '../columns.ts';

/**
 * Ends a statement that returns at most this many rows. SQLite replans a statement with a bare parameter in `limit` at
 * every execution, since the value may change the plan. Measured: 10 to 40 microseconds for a query that takes 1 to 7.
 */
export const LIMIT = 'limit ? + 0';

/** Inserts all columns, in the order of the table description. */
export const insertRow = (table: Table, rows = 1): string =>
  `${insertInto(table)} values ${Array(rows)
    .fill(`(${table.members.map(() => '?').join(', ')})`)
    .join(', ')}`;

export type Queries = ReturnType<typeof queriesOn>;

export const queriesOn = (database: DatabaseSync) => ({
  one<Row extends object>(text: string): (...values: SQLInputValue[]) => Row | null {
    const statement = database.prepare(text);
    return (...values) => (statement.get(...values) as Row | undefined) ?? null;
  },
  all<Row extends object>(text: string): (...values: SQLInputValue[]) => Row[] {
    const statement = database.prepare(text);
    return (...values) => {
      const rows: object[] = statement.all(...values);
      return rows as Row[];
    };
  },
  /** Row by row, for readers that may stop early. */
  each<Row extends object>(text: string): (...values: SQLInputValue[]) => Iterable<Row> {
    const statement = database.prepare(text);
    return (...values) => {
      const rows: Iterable<object> = statement.iterate(...values);
      return rows as Iterable<Row>;
    };
  },
  /** Returns the number of changed rows. */
  run(text: string): (...values: SQLInputValue[]) => number {
    const statement = database.prepare(text);
    return (...values) => Number(statement.run(...values).changes);
  },
});

/** Runs reads on one snapshot. */
export function prepareMoment(database: DatabaseSync): <T>(read: () => T) => T {
  const begin = database.prepare('begin');
  const commit = database.prepare('commit');
  return (read) => {
    begin.run();
    try {
      return read();
    } finally {
      commit.run();
    }
  };
}
