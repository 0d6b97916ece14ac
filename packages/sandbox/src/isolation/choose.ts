import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Child } from '../child.ts';
import {
  isRoot,
  type Launcher,
  type Materials,
  NODE,
  nodeArguments,
  nodeView,
  pythonView,
  RUNNER_FOLDER,
  type View,
  type Wall,
} from './launch.ts';
import { seccompFilter } from './seccomp-filter.ts';
import { findPythons, findTools } from './tools.ts';
import { DEFAULT_UIDS, type UidRange, Uids } from './uids.ts';
import { bwrapWall, unshareWall } from './walls.ts';

/** Long, since a child gets little CPU time on a busy machine. */
const PROBE_MS = 30_000;
const COMPLAINT_MAX = 500;

/** How to make the filter available. */
export const FILTER_HINT =
  'Install bubblewrap (bwrap), or a python3 with ctypes, or a util-linux whose setpriv has --seccomp-filter.';

/** Pack code cannot be isolated on this machine; the message says what the operator can do. */
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

/** Private memory in addition to the limit of the pack, for growth that the pack does not cause. */
const HEADROOM_BYTES = 64 * 1024 * 1024;

const bounded = (launcher: Launcher, idleBytes: number): Launcher => ({
  ...launcher,
  command: ({ dataBytes = Number.NaN, ...launch }) =>
    launcher.command({
      ...launch,
      ...(dataBytes >= 0 && { dataBytes: idleBytes + dataBytes + HEADROOM_BYTES }),
    }),
});

/** By wall and program: a combination that worked in this process is not probed again for another sandbox. */
const idleBytesOf = new Map<string, number>();

/**
 * Starts a real child without a pack. When it answers, its whole runner is loaded, and its memory is measured.
 * Returns a launcher that limits the memory of its processes, or the reason why it does not work.
 */
async function probe(wall: Wall, view: View): Promise<Launcher | string> {
  const launcher = wall.launcherOf(view);
  const key = JSON.stringify([wall.kind, wall.isFiltered, view.files]);
  const known = idleBytesOf.get(key);
  if (known !== undefined) return bounded(launcher, known);
  const { promise, resolve } = Promise.withResolvers<Launcher | string>();
  let idleBytes: number | undefined;
  const child = new Child(launcher.command({ folder: RUNNER_FOLDER, flags: [] }), '', {
    message() {
      idleBytes = child.memory()?.data;
      child.kill();
    },
    end(end) {
      clearTimeout(timer);
      const reason = end.kind === 'exited' ? end.reason : 'it did not start in time';
      if (idleBytes !== undefined) {
        idleBytesOf.set(key, idleBytes);
        resolve(bounded(launcher, idleBytes));
      } else resolve(`${launcher.kind}: ${reason.slice(0, COMPLAINT_MAX)}`);
    },
  });
  const timer = setTimeout(() => child.kill(), PROBE_MS);
  child.send({ type: 'ping', token: '' });
  return promise;
}

/** Only Node's permission model: it prevents accidents, not attacks. Used only when the operator requests it. */
const PERMISSION_ONLY: Launcher = {
  kind: 'permission-only',
  command: ({ folder, flags }) => ({
    file: NODE,
    args: nodeArguments({ runner: RUNNER_FOLDER, pack: folder }, flags),
    folder,
    release: () => {},
  }),
};

/** A wall, and the launcher that starts Node behind it. */
export interface Isolation extends Launcher, Wall {}

/** `os` is the better of the two that works. */
export type IsolationChoice = 'os' | Isolation['kind'];

type Build = (materials: Materials) => Wall;

/** Root mounts before it changes its uid, so with `unshare` packs may be in folders that only root can enter. */
function candidates(wanted: IsolationChoice): readonly Build[] {
  if (wanted === 'bwrap') return [bwrapWall];
  if (wanted === 'unshare') return [unshareWall];
  return isRoot() ? [unshareWall, bwrapWall] : [bwrapWall, unshareWall];
}

async function tryOut(build: Build, materials: Materials): Promise<Isolation | string> {
  try {
    const wall = build(materials);
    const probed = await probe(wall, nodeView());
    return typeof probed === 'string' ? probed : { ...wall, ...probed };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

export interface IsolationOptions {
  readonly isolation: IsolationChoice;
  readonly workDir: string;
  readonly uids?: UidRange;
}

function writeFilter(workDir: string): string | undefined {
  const filter = seccompFilter(process.arch);
  if (!filter) return undefined;
  const file = path.join(workDir, 'seccomp.bpf');
  mkdirSync(workDir, { recursive: true });
  writeFileSync(file, filter);
  return file;
}

export async function gatherMaterials(workDir: string, range: UidRange): Promise<Materials> {
  const uids = isRoot() ? new Uids(range) : undefined;
  const takeUid: Materials['takeUid'] = () => {
    if (!uids) return { release: () => {} };
    const uid = uids.take();
    return { uid, release: () => uids.release(uid) };
  };
  return { workDir, tools: await findTools(), filter: writeFilter(workDir), takeUid };
}

/** The first isolation that works and filters system calls, else the first that works. */
export async function chooseIsolation(options: IsolationOptions): Promise<Isolation> {
  const { isolation: wanted, workDir, uids = DEFAULT_UIDS } = options;
  if (wanted === 'permission-only')
    return { ...PERMISSION_ONLY, isFiltered: false, launcherOf: () => PERMISSION_ONLY };
  if (process.platform !== 'linux') throw new SandboxUnavailable([`${process.platform} has neither`]);
  const materials = await gatherMaterials(workDir, uids).catch((error: Error) => {
    throw new SandboxUnavailable([error.message]);
  });
  const complaints: string[] = [];
  let unfiltered: Isolation | undefined;
  for (const candidate of candidates(wanted)) {
    const found = await tryOut(candidate, materials);
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

/** A Python that was verified to start behind this wall. Its code counts as native, so it needs the filter. */
export async function choosePython(isolation: Wall, mayBeUnfiltered = false): Promise<PythonFound> {
  if (isolation.kind === 'permission-only')
    return { kind: 'missing', reason: 'Python packs need an OS sandbox' };
  if (!isolation.isFiltered && !mayBeUnfiltered)
    return { kind: 'missing', reason: `Python packs need a filter for system calls. ${FILTER_HINT}` };
  let reason = 'no python3 of version 3.10 or later was found';
  for await (const python of findPythons()) {
    const probed = await probe(isolation, pythonView(python));
    if (typeof probed !== 'string') return { kind: 'found', version: python.version, launcher: probed };
    reason = probed;
  }
  return { kind: 'missing', reason };
}
