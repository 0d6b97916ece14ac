/** A process with all that it started. On Linux they are looked up in /proc; elsewhere it is taken to be alone. */
import { readdirSync, readFileSync } from 'node:fs';

/** Parents first, so that none starts another child meanwhile. */
export function treeOf(pid: number): number[] {
  const threads = entriesOf(`/proc/${pid}/task`);
  const children = threads.flatMap((thread) =>
    textOf(`/proc/${pid}/task/${thread}/children`).split(' ').filter(Boolean).map(Number),
  );
  return [pid, ...children.flatMap(treeOf)];
}

export function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It went with its parent
  }
}

export const isThere = (pid: number): boolean => /^State:\s+[^ZX]/m.test(textOf(`/proc/${pid}/status`));

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
