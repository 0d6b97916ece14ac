/** Processes of this machine by their pid, read and treated from outside. */
import { readFileSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/** Packs give way to the host. */
const NICENESS = 5;
/** The kernel ends packs before it ends the host. */
const OOM_SCORE = 500;
const PAGE_BYTES = 4096;

function childrenOf(pid: number): readonly number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return text === '' ? [] : text.split(' ').map(Number);
  } catch {
    return [];
  }
}

/** The last of a chain of single children: the launchers in front of an interpreter wait for it. */
export function innermost(pid: number): number {
  const [child, second] = childrenOf(pid);
  return child !== undefined && second === undefined ? innermost(child) : pid;
}

/** The innermost first, so that no orphan is left to another process. */
const descendants = (pid: number): readonly number[] =>
  childrenOf(pid).flatMap((child) => [...descendants(child), child]);

export function killTree(pid: number): void {
  for (const each of [...descendants(pid), pid])
    try {
      process.kill(each, 'SIGKILL');
    } catch {
      // It has ended.
    }
}

/**
 * Best effort, for the first process of a session before it starts others. Where the kernel groups sessions, it is
 * the group that has to give way.
 */
export function giveWay(pid: number): void {
  try {
    setPriority(pid, NICENESS);
    writeFileSync(`/proc/${pid}/oom_score_adj`, `${OOM_SCORE}`);
    writeFileSync(`/proc/${pid}/autogroup`, `${NICENESS}`);
  } catch {
    // The kernel has no such file, or the process has ended.
  }
}

/** `resident`: of the whole process. `data`: private memory, as `RLIMIT_DATA` counts it, and the stack. */
export function memoryOf(pid: number): { readonly resident: number; readonly data: number } | undefined {
  try {
    const pages = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ').map(Number);
    return { resident: (pages[1] ?? 0) * PAGE_BYTES, data: (pages[5] ?? 0) * PAGE_BYTES };
  } catch {
    return undefined;
  }
}
