/**
 * One process per data folder. The lock is an exclusive transaction on a small database of its own, held for
 * life: the kernel drops it with the process, kill -9 included, so nothing stale is ever left behind.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../error.ts';
import { createFile } from './files.ts';

/** Answers how to let go. Throws `locked` at once when another process (or store) holds the folder. */
export function lockFolder(dataDir: string): () => void {
  const pidFile = join(dataDir, 'gantry.pid');
  const path = join(dataDir, 'lock.db');
  createFile(path);
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec('begin exclusive');
    writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 });
  } catch (error) {
    database.close();
    if (isBusy(error)) throw new StoreError('locked', `${dataDir} is in use by ${holderOf(pidFile)}.`);
    throw error;
  }
  return () => {
    rmSync(pidFile, { force: true });
    database.close();
  };
}

const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && error.errcode === 5;

function holderOf(pidFile: string): string {
  try {
    return `process ${readFileSync(pidFile, 'utf8').trim()}`;
  } catch {
    return 'another process';
  }
}
