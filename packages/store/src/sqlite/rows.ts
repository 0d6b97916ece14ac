/** Statements as functions of their values, and rows as the columns name them: the one place that trusts the shape of a query. */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { insertInto, type Table } from '../columns.ts';

/**
 * The end of a statement that answers at most so many. SQLite plans a statement with a bare parameter there anew at
 * every run, since how many may change the plan; measured: 10 to 40 microseconds for what then takes 1 to 7.
 */
export const LIMIT = 'limit ? + 0';

/** Inserts the values of all columns, in the order in which the table is described. */
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
  /** Answers how many rows it changed. */
  run(text: string): (...values: SQLInputValue[]) => number {
    const statement = database.prepare(text);
    return (...values) => Number(statement.run(...values).changes);
  },
});

/** Reads that are of one moment. */
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
