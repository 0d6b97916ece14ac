/** The data folder is for its owner only. */
import { closeSync, mkdirSync, openSync } from 'node:fs';

export const createFolder = (path: string): void => void mkdirSync(path, { recursive: true, mode: 0o700 });

/**
 * Makes an empty file before SQLite does, which would let everyone read it. An existing file is never opened:
 * closing any descriptor of it would drop the POSIX locks this process holds on it.
 */
export function createFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return;
    throw error;
  }
}
