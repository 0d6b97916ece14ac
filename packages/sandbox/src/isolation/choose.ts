import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  isRoot,
  type Launcher,
  type Materials,
  NODE,
  nodeArguments,
  nodeView,
  RUNNER_FOLDER,
  type Wall,
} from './launch.ts';
import { type Failure, probe } from './probe.ts';
import { seccompFilter } from './seccomp-filter.ts';
import { findTools, ToolKilled } from './tools.ts';
import { DEFAULT_UIDS, type UidRange, Uids } from './uids.ts';
import { bwrapWall, unshareWall } from './walls.ts';

/** How to make the filter available. */
export const FILTER_HINT =
  'Install bubblewrap (bwrap), or a python3 with ctypes, or a util-linux whose setpriv has --seccomp-filter.';

const UNABLE = {
  problem: 'Packs cannot be isolated on this machine',
  next:
    'Install bubblewrap (bwrap), or allow unprivileged user namespaces so that unshare works, or, for packs that ' +
    'you trust, set GANTRY_SANDBOX=permission-only.',
};
const UNKNOWN = {
  problem:
    'Whether packs can be isolated on this machine could not be determined, since the tests of it were killed',
  next: 'Try again; if it fails again, check the free memory and the load of the machine.',
};

/** Pack code cannot be isolated on this machine; the message says what the operator can do. */
export class SandboxUnavailable extends Error {
  readonly problem: string;
  readonly next: string;
  /** Whether it may be available later: tests of it were killed or timed out. */
  readonly retriable: boolean;

  constructor(complaints: readonly string[], retriable = false) {
    super();
    const { problem, next } = retriable ? UNKNOWN : UNABLE;
    this.problem = `${problem} (${complaints.join('; ')}).`;
    this.next = next;
    this.message = `${this.problem} ${next}`;
    this.retriable = retriable;
    this.name = 'SandboxUnavailable';
  }
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

async function tryOut(build: Build, materials: Materials): Promise<Isolation | Failure> {
  try {
    const wall = build(materials);
    const probed = await probe(wall, nodeView());
    return 'wasKilled' in probed ? probed : { ...wall, ...probed };
  } catch (error) {
    return { reason: error instanceof Error ? error.message : String(error), wasKilled: false };
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

/** The first isolation that works and filters system calls, else the first that works if no better one was killed. */
export async function chooseIsolation(options: IsolationOptions): Promise<Isolation> {
  const { isolation: wanted, workDir, uids = DEFAULT_UIDS } = options;
  if (wanted === 'permission-only')
    return { ...PERMISSION_ONLY, isFiltered: false, launcherOf: () => PERMISSION_ONLY };
  if (process.platform !== 'linux') throw new SandboxUnavailable([`${process.platform} has neither`]);
  const materials = await gatherMaterials(workDir, uids).catch((error: Error) => {
    throw new SandboxUnavailable([error.message], error instanceof ToolKilled);
  });
  const failures: Failure[] = [];
  let unfiltered: Isolation | undefined;
  for (const candidate of candidates(wanted)) {
    const found = await tryOut(candidate, materials);
    if ('wasKilled' in found) failures.push(found);
    else if (found.isFiltered) return found;
    else unfiltered ??= found;
  }
  const isUnknown = failures.some(({ wasKilled }) => wasKilled);
  if (unfiltered && !isUnknown) return unfiltered;
  throw new SandboxUnavailable(
    failures.map(({ reason }) => reason),
    isUnknown,
  );
}
