/** Programs of this machine that launchers use, found once. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { LAUNCH_ENVIRONMENT } from './launch.ts';
import { findPythons, type Python } from './python.ts';

const PROBE_MS = 10_000;
const run = promisify(execFile);

/** A program that is bound into the view of a child, with what it is linked to. */
export interface Tool {
  readonly executable: string;
  readonly sharedLibraries: readonly string[];
}

export interface Tools {
  /** Of util-linux: sets limits inside of the view. */
  readonly prlimit: Tool | undefined;
  /** Of util-linux, where it can apply a filter. */
  readonly filteringSetpriv: Tool | undefined;
  /** Python that packs may run on, the operator's own first. */
  readonly pythons: readonly Python[];
}

const said = async (file: string, args: readonly string[]): Promise<string> => {
  try {
    return (await run(file, args, { timeout: PROBE_MS, env: LAUNCH_ENVIRONMENT })).stdout;
  } catch {
    return '';
  }
};

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

async function find(): Promise<Tools> {
  const [prlimit, filteringSetpriv, pythons] = await Promise.all([
    findTool('prlimit'),
    findFilteringSetpriv(),
    findPythons(),
  ]);
  return { prlimit, filteringSetpriv, pythons };
}

let found: Promise<Tools> | undefined;

export function findTools(): Promise<Tools> {
  found ??= find();
  return found;
}
