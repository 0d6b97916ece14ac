/** Finds a Python that can run packs: 3.10 or later, with all that its process needs to be bound into the sandbox. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { isObject } from '../result.ts';

const PROBE_MS = 10_000;
const PROBE_BYTES_MAX = 256 * 1024;
const OLDEST = [3, 10] as const;

export interface Python {
  readonly version: string;
  readonly executable: string;
  /** The standard library. */
  readonly library: string;
  /** Folders inside it with what was installed on this machine: no business of packs. */
  readonly installed: readonly string[];
  readonly sharedLibraries: readonly string[];
  /** With `ctypes` it can start others filtered. */
  readonly hasCtypes: boolean;
}

/** Only extension modules that compute: what they link to is bound, so `ctypes` and `ssl` do not even load. */
const SCRIPT = `
import glob, json, os, subprocess, sys
library = os.path.dirname(os.__file__)
executable = os.path.realpath(getattr(sys, '_base_executable', None) or sys.executable)
names = ['zlib', '_bz2', '_lzma', '_hashlib', '_decimal', 'pyexpat', '_uuid']
found = [file for name in names for file in glob.glob(os.path.join(library, 'lib-dynload', name + '.*.so'))]
linked = subprocess.run(['ldd', executable, *found], capture_output=True, text=True).stdout
try:
    import ctypes
except ImportError:
    ctypes = None
words = [word for line in linked.splitlines() if ' (0x' in line for word in line.split()]
print(json.dumps({
    'version': list(sys.version_info[:3]), 'executable': executable, 'library': library,
    'installed': [f for f in (os.path.join(library, n) for n in ('site-packages', 'dist-packages')) if os.path.isdir(f)],
    'hasCtypes': ctypes is not None,
    'sharedLibraries': sorted({word for word in words if word.startswith('/')}),
}))
`;

const strings = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];

function read(text: string): Python | undefined {
  const found: unknown = JSON.parse(text);
  if (!isObject(found) || !Array.isArray(found.version)) return undefined;
  const [major = 0, minor = 0] = found.version.map(Number);
  if (major !== OLDEST[0] || minor < OLDEST[1]) return undefined;
  const { executable, library } = found;
  if (typeof executable !== 'string' || typeof library !== 'string') return undefined;
  return {
    version: found.version.join('.'),
    executable,
    library,
    installed: strings(found.installed),
    sharedLibraries: strings(found.sharedLibraries),
    hasCtypes: found.hasCtypes === true,
  };
}

async function findPython(name: string): Promise<Python | undefined> {
  try {
    const { stdout } = await promisify(execFile)(name, ['-I', '-S', '-c', SCRIPT], {
      timeout: PROBE_MS,
      maxBuffer: PROBE_BYTES_MAX,
    });
    return read(stdout);
  } catch {
    return undefined;
  }
}

/**
 * The `python3` of the operator's own path, which may be a version manager's (packs never see that path), and the
 * system's: only that one lies where the uid of a pack can enter, should the other be in a home folder.
 */
export async function findPythons(): Promise<readonly Python[]> {
  const [own, system] = await Promise.all(['python3', '/usr/bin/python3'].map(findPython));
  const isOther = own?.executable !== system?.executable;
  return [own, ...(isOther ? [system] : [])].filter((python) => python !== undefined);
}

const HOME = '/python';

/** Where Python lies in the child's view: it finds its library beside itself, whatever the machine calls the folder. */
export const PYTHON_INSIDE = `${HOME}/bin/python3`;

const libraryInside = ({ library }: Python): string =>
  path.join(HOME, path.basename(path.dirname(library)), path.basename(library));

/** Files to be bound, from outside to inside. */
export const pythonFiles = (python: Python): readonly (readonly [string, string])[] => [
  [python.executable, PYTHON_INSIDE],
  ...python.sharedLibraries.map((file) => [file, file] as const),
];

export const pythonLibrary = (python: Python): readonly [string, string] => [
  python.library,
  libraryInside(python),
];

/** Folders to be covered by an empty one. */
export const pythonHidden = (python: Python): readonly string[] =>
  python.installed.map((folder) => path.join(libraryInside(python), path.basename(folder)));

/** Isolated from environment and user, without what is installed, writing no bytecode. */
export const pythonArguments = (runner: string): readonly string[] => [
  '-I',
  '-S',
  '-B',
  '-X',
  'utf8',
  `${runner}/python/main.py`,
];
