import type { DatabaseSync, StatementSync } from 'node:sqlite';

export type Operations = Readonly<Record<string, (...args: never[]) => unknown>>;

export interface Area<Reads extends Operations = Operations, Writes extends Operations = Operations> {
  /** On a connection that cannot write. */
  reads(database: DatabaseSync): Reads;
  /** Inside a transaction. What is thrown undoes this write alone. */
  writes(database: DatabaseSync): Writes;
}

export const defineArea = <Reads extends Operations, Writes extends Operations>(
  area: Area<Reads, Writes>,
): Area<Reads, Writes> => area;

/** SQLite replans a statement with a bare parameter here on every run; measured: 10 to 40 µs for what then takes 1 to 7. */
export const LIMIT = 'limit ? + 0';

/** The shapes of filters in use are few; those used longest ago are prepared again. */
const STATEMENTS_MAX = 200;

export function preparing(database: DatabaseSync): (sql: string) => StatementSync {
  const prepared = new Map<string, StatementSync>();
  return (sql) => {
    const statement = prepared.get(sql) ?? database.prepare(sql);
    prepared.delete(sql);
    prepared.set(sql, statement);
    if (prepared.size > STATEMENTS_MAX) prepared.delete(prepared.keys().next().value!);
    return statement;
  };
}

/** All that `work` reads is of one moment, whatever is written meanwhile. */
export function inSnapshot<T>(database: DatabaseSync, work: () => T): T {
  database.exec('begin');
  try {
    return work();
  } finally {
    database.exec('commit');
  }
}

/** Sequences begin with the id of the collection, so its rows lie together; below 2^53, exact as numbers. */
const ROWS = 2 ** 32;

/** From the first to before the second. */
export const rangeOf = (collection: number): readonly [first: number, after: number] => [
  collection * ROWS,
  (collection + 1) * ROWS,
];

export const sequenceOf = (collection: number, row: number): number => collection * ROWS + row;
