/** The data folder is accessible to its owner only. */
import { closeSync, mkdirSync, openSync } from 'node:fs';

export const createFolder = (path: string): void => void mkdirSync(path, { recursive: true, mode: 0o700 });

/**
 * Creates the file before SQLite would, which makes it readable by all users. An existing file is never opened:
 * closing any descriptor of it would drop the POSIX locks that this process holds on it.
 */
export function createFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return;
    throw error;
  }
}
