/**
 * One process per data folder. The lock is an exclusive transaction on a small separate database, held until the
 * process ends. The kernel releases it with the process, even after kill -9, so no stale lock remains.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../error.ts';
import { pidIn } from '../pid-file.ts';
import { createFile } from './files.ts';

/** Returns the function that releases the lock. Throws `locked` at once if another process (or store) holds it. */
export function lockFolder(dataDir: string): () => void {
  const path = join(dataDir, 'lock.db');
  createFile(path);
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec('begin exclusive');
  } catch (error) {
    database.close();
    if (isBusy(error)) throw new StoreError('locked', `${dataDir} is in use by ${holderOf(dataDir)}.`);
    throw error;
  }
  return () => database.close();
}

const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && error.errcode === 5;

function holderOf(dataDir: string): string {
  const pid = pidIn(dataDir);
  return pid === undefined ? 'another process' : `process ${pid}`;
}
