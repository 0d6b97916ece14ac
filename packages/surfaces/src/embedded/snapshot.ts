import type { DatabaseSync } from 'node:sqlite';

/** All that `work` reads is of one moment, whatever is written meanwhile. */
export function inSnapshot<T>(database: DatabaseSync, work: () => T): T {
  database.exec('begin');
  try {
    return work();
  } finally {
    database.exec('commit');
  }
}
