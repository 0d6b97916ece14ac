import { Child } from '../child.ts';
import { bwrapIsolation } from './bwrap.ts';
import { type Isolation, isRoot, type Launcher, RUNNER_FOLDER } from './launch.ts';
import { permissionOnlyIsolation } from './permission-only.ts';
import { findTools } from './tools.ts';
import { DEFAULT_UIDS, type UidRange } from './uids.ts';
import { unshareIsolation } from './unshare.ts';
import { prepareWall, type Wall } from './wall.ts';

const PROBE_MS = 10_000;
const COMPLAINT_MAX = 500;

/** What makes the filter possible. */
export const FILTER_HINT =
  'Install bubblewrap (bwrap), or a python3 with ctypes, or a util-linux whose setpriv has --seccomp-filter.';

/** No way to isolate pack code on this machine; the message says what the operator can do. */
export class SandboxUnavailable extends Error {
  readonly problem: string;
  readonly next =
    'Install bubblewrap (bwrap), or allow unprivileged user namespaces so that unshare works, or, for packs that ' +
    'you trust, set GANTRY_SANDBOX=permission-only.';

  constructor(complaints: readonly string[]) {
    super();
    this.problem = `Packs cannot be isolated on this machine (${complaints.join('; ')}).`;
    this.message = `${this.problem} ${this.next}`;
    this.name = 'SandboxUnavailable';
  }
}

/** A launcher as it was seen to work, which bounds the memory of what it starts. */
type Probed =
  | { readonly kind: 'works'; readonly launcher: Launcher }
  | { readonly kind: 'fails'; readonly complaint: string };

/** Private memory beside what the pack may have, for growth that is not its own. */
const HEADROOM_BYTES = 64 * 1024 * 1024;

const bounded = (launcher: Launcher, idleBytes: number): Launcher => ({
  ...launcher,
  command: ({ dataBytes = Number.NaN, ...launch }) =>
    launcher.command({
      ...launch,
      ...(dataBytes >= 0 && { dataBytes: idleBytes + dataBytes + HEADROOM_BYTES }),
    }),
});

/** Starts a real child without a pack. When it answers, all of its runner is there, and how much that takes is measured. */
async function probe(launcher: Launcher): Promise<Probed> {
  const { promise, resolve } = Promise.withResolvers<Probed>();
  let idleBytes: number | undefined;
  const fails = (reason: string) =>
    resolve({ kind: 'fails', complaint: `${launcher.kind}: ${reason.slice(0, COMPLAINT_MAX)}` });
  const child = new Child(launcher.command({ folder: RUNNER_FOLDER, flags: [] }), '', {
    message() {
      idleBytes = child.dataBytes();
      child.kill();
    },
    end(end) {
      clearTimeout(timer);
      if (idleBytes !== undefined) resolve({ kind: 'works', launcher: bounded(launcher, idleBytes) });
      else fails(end.kind === 'exited' ? end.reason : 'it did not start in time');
    },
  });
  const timer = setTimeout(() => child.kill(), PROBE_MS);
  child.send({ type: 'ping', token: '' });
  return promise;
}

/** Where the sandbox may be told to stand; `os` is the better of the two that works. */
export type IsolationChoice = 'os' | Isolation['kind'];

/** Root mounts before it changes its uid, so with `unshare` packs may lie in folders that only root can enter. */
function candidates(wanted: IsolationChoice): readonly ((wall: Wall) => Isolation)[] {
  if (wanted === 'bwrap') return [bwrapIsolation];
  if (wanted === 'unshare') return [unshareIsolation];
  return isRoot() ? [unshareIsolation, bwrapIsolation] : [bwrapIsolation, unshareIsolation];
}

async function tryOut(candidate: (wall: Wall) => Isolation, wall: Wall): Promise<Isolation | string> {
  try {
    const isolation = candidate(wall);
    const probed = await probe(isolation);
    return probed.kind === 'works' ? { ...isolation, ...probed.launcher } : probed.complaint;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

export interface IsolationOptions {
  readonly isolation: IsolationChoice;
  readonly workDir: string;
  readonly uids?: UidRange;
}

/** The first that works and filters system calls, else the first that works. */
export async function chooseIsolation(options: IsolationOptions): Promise<Isolation> {
  const { isolation: wanted, workDir, uids = DEFAULT_UIDS } = options;
  if (wanted === 'permission-only') return permissionOnlyIsolation();
  if (process.platform !== 'linux') throw new SandboxUnavailable([`${process.platform} has neither`]);
  const wall = await prepareWall(workDir, uids).catch((error: Error) => {
    throw new SandboxUnavailable([error.message]);
  });
  const complaints: string[] = [];
  let unfiltered: Isolation | undefined;
  for (const candidate of candidates(wanted)) {
    const found = await tryOut(candidate, wall);
    if (typeof found === 'string') complaints.push(found);
    else if (found.isFiltered) return found;
    else unfiltered ??= found;
  }
  if (unfiltered) return unfiltered;
  throw new SandboxUnavailable(complaints);
}

export type PythonFound =
  | { readonly kind: 'found'; readonly version: string; readonly launcher: Launcher }
  | { readonly kind: 'missing'; readonly reason: string };

/** A Python that was seen to start behind this wall. Its code counts as native: without the filter there is none. */
export async function choosePython(isolation: Isolation, mayBeUnfiltered = false): Promise<PythonFound> {
  if (isolation.kind === 'permission-only')
    return { kind: 'missing', reason: 'Python packs need an OS sandbox' };
  if (!isolation.isFiltered && !mayBeUnfiltered)
    return { kind: 'missing', reason: `Python packs need a filter for system calls. ${FILTER_HINT}` };
  const { pythons } = await findTools();
  let reason = 'no python3 of version 3.10 or later was found';
  for (const python of pythons) {
    const launcher = isolation.forPython(python);
    const probed = launcher && (await probe(launcher));
    if (probed?.kind === 'works')
      return { kind: 'found', version: python.version, launcher: probed.launcher };
    if (probed) reason = probed.complaint;
  }
  return { kind: 'missing', reason };
}
