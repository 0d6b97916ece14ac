import { chmodSync, lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import type { Python, Tool, Tools } from './tools.ts';

/** The process that each kind of isolation starts: one interpreter, its runner and one pack. */
export interface Launch {
  readonly folder: string;
  /** Flags of Node. */
  readonly flags: readonly string[];
  /** The limit of its private memory; none while an idle process is measured. */
  readonly dataBytes?: number;
}

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  /** The path of the pack as the child sees it. */
  readonly folder: string;
  /** A file that the child has open for reading, on the descriptor after its pipes. */
  readonly attached?: string;
  /** The uid that was taken for the child. */
  readonly uid?: number;
  /** Called once, when no process of the child runs any more. */
  release(): void;
}

export interface Launcher {
  readonly kind: 'bwrap' | 'unshare' | 'permission-only';
  command(launch: Launch): Command;
}

/** A way to isolate processes. */
export interface Wall {
  readonly kind: Launcher['kind'];
  /** Whether system calls are filtered. */
  readonly isFiltered: boolean;
  launcherOf(view: View): Launcher;
}

/** The inputs for building walls. */
export interface Materials {
  readonly workDir: string;
  readonly tools: Tools;
  /** The file of the filter; `undefined` on a machine whose system calls are not known. */
  readonly filter: string | undefined;
  /** Takes a uid for one child, if the host can assign one. */
  takeUid(): Pick<Command, 'uid' | 'release'>;
}

/**
 * The whole environment of launchers; pack code sees none of it. One thread of Node's pool always waits for
 * input, the other one compresses and hashes.
 */
export const LAUNCH_ENVIRONMENT = {
  PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
  TZ: 'UTC',
  UV_THREADPOOL_SIZE: '2',
} as const;

export const RUNNER_FOLDER = path.join(import.meta.dirname, '../runner');
export const NODE = process.execPath;

export const isRoot = (): boolean => process.getuid?.() === 0;
export const becomeUser = (uid: number): readonly string[] => [
  `--reuid=${uid}`,
  `--regid=${uid}`,
  '--clear-groups',
];

/** Paths in the child's view of the file system. */
export const INSIDE = {
  node: '/node',
  python: '/python/bin/python3',
  runner: '/runner',
  pack: '/pack',
  prlimit: '/prlimit',
  setpriv: '/setpriv',
  filter: '/filter',
} as const;

let libraries: readonly string[] | undefined;

/** The shared libraries of this Node, which the child also runs. A report takes 30 ms. */
const sharedLibraries = (): readonly string[] => (libraries ??= librariesInReport());

function librariesInReport(): readonly string[] {
  const report: unknown = Object.assign(process.report, { excludeNetwork: true }).getReport();
  const objects =
    typeof report === 'object' && report !== null && 'sharedObjects' in report ? report.sharedObjects : [];
  if (!Array.isArray(objects)) return [];
  return objects.filter((file): file is string => typeof file === 'string' && file.startsWith('/'));
}

/** Everything of the machine that a child sees, read-only, as pairs of outside and inside paths. */
export interface View {
  readonly kind: 'node' | 'python';
  readonly files: readonly (readonly [string, string])[];
  readonly folders: readonly (readonly [string, string])[];
  /** Folders that an empty folder covers. */
  readonly hidden: readonly string[];
  /** The maximum number of processes and threads. */
  readonly processesMax: number;
  /** The command that runs in the view. */
  command(flags: readonly string[]): readonly string[];
}

/** Adds a program to the view. */
export function withTool(view: View, inside: string, { executable, sharedLibraries }: Tool): View {
  const present = new Set(view.files.map(([, file]) => file));
  const linked = sharedLibraries.filter((file) => !present.has(file)).map((file) => [file, file] as const);
  return { ...view, files: [...view.files, [executable, inside], ...linked] };
}

export function withPrlimit(view: View, { prlimit }: Tools): View {
  if (!prlimit) throw new Error('prlimit was not found; install util-linux');
  return withTool(view, INSIDE.prlimit, prlimit);
}

const DESCRIPTORS_MAX = 64;

/** Runs the following command with limits, in the user namespace of the child, where only its own processes count. */
export const limited = ({ processesMax }: View, dataBytes: number | undefined): readonly string[] => [
  INSIDE.prlimit,
  '--core=0',
  '--fsize=0',
  `--nofile=${DESCRIPTORS_MAX}`,
  `--nproc=${processesMax}`,
  ...(dataBytes === undefined ? [] : [`--data=${dataBytes}`]),
];

const RUNNER = [RUNNER_FOLDER, INSIDE.runner] as const;

export const nodeView = (): View => ({
  kind: 'node',
  files: [[NODE, INSIDE.node], ...sharedLibraries().map((file) => [file, file] as const)],
  folders: [RUNNER],
  hidden: [],
  // About eight are needed; with four, Node waits forever for the rest.
  processesMax: 32,
  command: (flags) => [INSIDE.node, ...nodeArguments(INSIDE, flags)],
});

/** Isolated from the environment and the user, without installed packages, and without writing bytecode. */
const PYTHON_ARGUMENTS = ['-I', '-S', '-B', '-X', 'utf8', `${INSIDE.runner}/python/main.py`];

/** Python finds its library next to its executable, whatever the folder is called on the machine. */
export function pythonView({ executable, library, installed, sharedLibraries }: Python): View {
  const libraryInside = path.join('/python', path.basename(path.dirname(library)), path.basename(library));
  return {
    kind: 'python',
    files: [[executable, INSIDE.python], ...sharedLibraries.map((file) => [file, file] as const)],
    folders: [[library, libraryInside], RUNNER],
    hidden: installed.map((folder) => path.join(libraryInside, path.basename(folder))),
    processesMax: 1,
    command: () => [INSIDE.python, ...PYTHON_ARGUMENTS],
  };
}

/** A root host starts packs as another user, so that user must be able to read their files. */
export function openFolder(folder: string): void {
  if (!isRoot()) return;
  const open = (file: string, bits: number): void => {
    const { mode } = lstatSync(file);
    if ((mode & bits) !== bits) chmodSync(file, (mode & 0o777) | bits);
  };
  open(folder, 0o555);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (entry.isDirectory()) open(file, 0o555);
    else if (entry.isFile()) open(file, 0o444);
  }
}

/**
 * The inner layer. Never add `--allow-net`, `--allow-child-process`, `--allow-worker`, `--allow-addons` or
 * `--allow-wasi`.
 */
export function nodeArguments(paths: { runner: string; pack: string }, flags: readonly string[]): string[] {
  return [
    '--permission',
    `--allow-fs-read=${paths.runner}`,
    `--allow-fs-read=${paths.pack}`,
    '--experimental-vm-modules',
    '--no-experimental-sqlite',
    '--no-experimental-webstorage',
    '--no-experimental-websocket',
    '--no-addons',
    '--no-warnings',
    '--disable-sigusr1',
    // At its default initial size, freezing the intrinsics fills the young heap several times.
    '--min-semi-space-size=16',
    '--single-threaded-gc',
    ...flags,
    `${paths.runner}/main.mjs`,
  ];
}
