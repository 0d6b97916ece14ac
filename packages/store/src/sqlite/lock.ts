/**
 * One process per data folder. The lock is an exclusive transaction on a small database of its own, held for
 * life: the kernel drops it with the process, kill -9 included, so nothing stale is ever left behind.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../error.ts';
import { pidIn } from '../pid-file.ts';
import { createFile } from './files.ts';

/** Answers how to let go. Throws `locked` at once when another process (or store) holds the folder. */
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
