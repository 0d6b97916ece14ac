import type { DatabaseSync, StatementSync } from 'node:sqlite';

/**
 * The end of a statement that answers at most so many. SQLite plans a statement with a bare parameter there anew at
 * every run, since how many may change the plan: [m] 10 to 40 microseconds for what then takes 1 to 7.
 */
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
