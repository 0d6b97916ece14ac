/** What every launcher that isolates is built from. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isRoot } from './launch.ts';
import { seccompFilter } from './seccomp-filter.ts';
import { findTools, type Tools } from './tools.ts';
import { type UidRange, Uids } from './uids.ts';

/** A uid for one child, where the host can give one away. */
interface User {
  readonly uid?: number;
  release(): void;
}

export interface Wall {
  readonly workDir: string;
  readonly tools: Tools;
  /** The file of the filter; `undefined` on a machine whose system calls are not known. */
  readonly filter: string | undefined;
  takeUid(): User;
}

function writeFilter(workDir: string): string | undefined {
  const filter = seccompFilter(process.arch);
  if (!filter) return undefined;
  const file = path.join(workDir, 'seccomp.bpf');
  mkdirSync(workDir, { recursive: true });
  writeFileSync(file, filter);
  return file;
}

export async function prepareWall(workDir: string, range: UidRange): Promise<Wall> {
  const uids = isRoot() ? new Uids(range) : undefined;
  const takeUid = (): User => {
    if (!uids) return { release: () => {} };
    const uid = uids.take();
    return { uid, release: () => uids.release(uid) };
  };
  return { workDir, tools: await findTools(), filter: writeFilter(workDir), takeUid };
}
