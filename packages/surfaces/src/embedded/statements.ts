import type { DatabaseSync, StatementSync } from 'node:sqlite';

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
