import type { DatabaseSync } from 'node:sqlite';

export type Transaction = <T>(work: () => T) => T;

/** `begin immediate`, the work, `commit`. Any error rolls everything back. */
export function prepareTransaction(database: DatabaseSync): Transaction {
  const begin = database.prepare('begin immediate');
  const commit = database.prepare('commit');
  const rollback = database.prepare('rollback');
  return (work) => {
    begin.run();
    try {
      const result = work();
      commit.run();
      return result;
    } catch (error) {
      // SQLite rolls back automatically on some errors, such as a full disk
      if (database.isTransaction) rollback.run();
      throw error;
    }
  };
}

/** A part of a transaction that can be undone alone, with the savepoints within it. */
export function prepareSavepoint(database: DatabaseSync, name: string) {
  const [begin, undo, release] = [`savepoint ${name}`, `rollback to ${name}`, `release ${name}`].map(
    (statement) => database.prepare(statement),
  );
  return { begin: () => void begin!.run(), undo: () => void undo!.run(), release: () => void release!.run() };
}
