/** Finds, once, the programs of this machine that launchers use. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { isObject } from '../result.ts';
import { LAUNCH_ENVIRONMENT } from './launch.ts';
import { isKill } from './process-tree.ts';

const PROBE_MS = 10_000;
const TRIES_MAX = 3;
const PROBE_BYTES_MAX = 256 * 1024;
const OLDEST_PYTHON = [3, 10] as const;

/** A program that is bound into the view of a child, with its shared libraries. */
export interface Tool {
  readonly executable: string;
  readonly sharedLibraries: readonly string[];
}

export interface Tools {
  /** From util-linux: sets limits inside the view. */
  readonly prlimit: Tool | undefined;
  /** From util-linux, if it can apply a filter. */
  readonly filteringSetpriv: Tool | undefined;
  /** A Python with `ctypes`, which can start other programs with a filter. */
  readonly filteringPython: string | undefined;
}

/** A program was killed or timed out each time, so what it would have said is unknown. */
export class ToolKilled extends Error {}

/** The output of a program; empty if it cannot be run. */
async function outputOf(
  file: string,
  args: readonly string[],
  env?: Record<string, string>,
): Promise<string> {
  for (let tries = 1; ; tries++) {
    try {
      const options = { timeout: PROBE_MS, maxBuffer: PROBE_BYTES_MAX, ...(env && { env }) };
      return (await promisify(execFile)(file, args, options)).stdout;
    } catch (error) {
      const { code, signal } = error as { readonly code?: unknown; readonly signal?: string | null };
      if (!isKill(typeof code === 'number' ? code : null, signal ?? null)) return '';
      if (tries === TRIES_MAX) throw new ToolKilled(`${file} was killed or timed out`);
    }
  }
}

const said = (file: string, args: readonly string[]) => outputOf(file, args, LAUNCH_ENVIRONMENT);

async function findTool(name: string): Promise<Tool | undefined> {
  const executable = (await said('sh', ['-c', 'command -v "$1"', 'sh', name])).trim();
  if (!executable.startsWith('/')) return undefined;
  const words = (await said('ldd', [executable])).split(/\s+/);
  return { executable, sharedLibraries: words.filter((word) => word.startsWith('/')) };
}

async function findFilteringSetpriv(): Promise<Tool | undefined> {
  const help = await said('setpriv', ['--help']);
  return help.includes('--seccomp-filter') ? findTool('setpriv') : undefined;
}

export interface Python {
  readonly version: string;
  readonly executable: string;
  /** The standard library. */
  readonly library: string;
  /** Folders inside it with packages installed on this machine; hidden from packs. */
  readonly installed: readonly string[];
  readonly sharedLibraries: readonly string[];
}

/** Only extension modules that compute: only their libraries are bound, so `ctypes` and `ssl` do not load. */
const PYTHON_SCRIPT = `
import glob, json, os, subprocess, sys
library = os.path.dirname(os.__file__)
executable = os.path.realpath(getattr(sys, '_base_executable', None) or sys.executable)
names = ['zlib', '_bz2', '_lzma', '_hashlib', '_decimal', 'pyexpat', '_uuid']
found = [file for name in names for file in glob.glob(os.path.join(library, 'lib-dynload', name + '.*.so'))]
linked = subprocess.run(['ldd', executable, *found], capture_output=True, text=True).stdout
words = [word for line in linked.splitlines() if ' (0x' in line for word in line.split()]
print(json.dumps({
    'version': list(sys.version_info[:3]), 'executable': executable, 'library': library,
    'installed': [f for f in (os.path.join(library, n) for n in ('site-packages', 'dist-packages')) if os.path.isdir(f)],
    'sharedLibraries': sorted({word for word in words if word.startswith('/')}),
}))
`;

const strings = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];

/** Python 3.10 or later, with everything that must be bound into the sandbox for it. */
async function findPython(name: string): Promise<Python | undefined> {
  const found: unknown = JSON.parse((await outputOf(name, ['-I', '-S', '-c', PYTHON_SCRIPT])) || 'null');
  if (!isObject(found) || !Array.isArray(found.version)) return undefined;
  const [major = 0, minor = 0] = found.version.map(Number);
  if (major !== OLDEST_PYTHON[0] || minor < OLDEST_PYTHON[1]) return undefined;
  const { executable, library } = found;
  if (typeof executable !== 'string' || typeof library !== 'string') return undefined;
  return {
    version: found.version.join('.'),
    executable,
    library,
    installed: strings(found.installed),
    sharedLibraries: strings(found.sharedLibraries),
  };
}

const SYSTEM_PYTHON = '/usr/bin/python3';
const foundPythons = new Map<string, Promise<Python | undefined>>();

/**
 * First the `python3` of the operator's own path, which may belong to a version manager (packs never see that
 * path). Then the one of the system: the uid of a pack can enter its folder even if the other one is in a home
 * folder. Each is examined only if those before it do not work.
 */
export async function* findPythons(): AsyncGenerator<Python> {
  const seen = new Set<string>();
  for (const name of ['python3', SYSTEM_PYTHON]) {
    const finding = foundPythons.get(name) ?? findPython(name);
    foundPythons.set(name, finding);
    finding.catch(() => foundPythons.delete(name));
    const python = await finding;
    if (python && !seen.has(python.executable)) yield python;
    if (python) seen.add(python.executable);
  }
}

const FILTERING_SCRIPT = `
import ctypes, os, sys
print(os.path.realpath(getattr(sys, '_base_executable', None) or sys.executable))
`;

/** The system Python first: a version manager takes 0.1 s to find its own. */
async function findFilteringPython(): Promise<string | undefined> {
  for (const name of [SYSTEM_PYTHON, 'python3']) {
    const executable = (await outputOf(name, ['-I', '-S', '-c', FILTERING_SCRIPT])).trim();
    if (executable !== '') return executable;
  }
  return undefined;
}

async function find(): Promise<Tools> {
  const [prlimit, filteringSetpriv, filteringPython] = await Promise.all([
    findTool('prlimit'),
    findFilteringSetpriv(),
    findFilteringPython(),
  ]);
  return { prlimit, filteringSetpriv, filteringPython };
}

let found: Promise<Tools> | undefined;

export const findTools = (): Promise<Tools> =>
  (found ??= find().catch((error: unknown) => {
    found = undefined;
    throw error;
  }));
