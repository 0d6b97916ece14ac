/** `gantry.pid` in the data folder: the id of the process that serves it. Removed with the process, unless killed. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const written = new Set<string>();

/** Returns a function that removes the file. */
export function writePidFile(dataDir: string): () => void {
  const file = pidFileOf(dataDir);
  writeFileSync(file, `${process.pid}\n`, { mode: 0o600 });
  if (written.size === 0) process.once('exit', removeAll);
  written.add(file);
  return () => remove(file);
}

/** The process id in the file; undefined without a file. */
export function pidIn(dataDir: string): string | undefined {
  try {
    return readFileSync(pidFileOf(dataDir), 'utf8').trim();
  } catch {
    return undefined;
  }
}

const pidFileOf = (dataDir: string): string => join(dataDir, 'gantry.pid');

function removeAll(): void {
  for (const file of written) remove(file);
}

/** Removes the file only if it names this process: processes that share a database may share the folder. */
function remove(file: string): void {
  written.delete(file);
  if (written.size === 0) process.off('exit', removeAll);
  if (pidIn(join(file, '..')) === String(process.pid)) rmSync(file, { force: true });
}
