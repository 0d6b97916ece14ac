/** Inspects and controls processes of this machine from outside, by pid. */

import { readFileSync, writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

/** Packs run at a lower priority than the host. */
const NICENESS = 5;
/** The kernel kills packs before the host when memory runs out. */
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

/** The last process in a chain of single children: launchers wait for the interpreter that they started. */
export function innermost(pid: number): number {
  const [child, second] = childrenOf(pid);
  return child !== undefined && second === undefined ? innermost(child) : pid;
}

/** The innermost first, so that no orphan is reparented to another process. */
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
 * Lowers the priority of the first process of a session before it starts others; best effort. Where the kernel
 * groups sessions, the priority of the group counts.
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

/** `resident`: memory of the whole process. `data`: private memory, as `RLIMIT_DATA` counts it, and the stack. */
export function memoryOf(pid: number): { readonly resident: number; readonly data: number } | undefined {
  try {
    const pages = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ').map(Number);
    return { resident: (pages[1] ?? 0) * PAGE_BYTES, data: (pages[5] ?? 0) * PAGE_BYTES };
  } catch {
    return undefined;
  }
}

/** Sent from outside of a process. A shell and `bwrap` report the signal of their command as an exit code. */
const KILLS = ['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const;

export const isKill = (code: number | null, signal: string | null): boolean =>
  KILLS.some((name) => signal === name || code === 128 + constants.signals[name]);
