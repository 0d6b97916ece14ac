import path from 'node:path';

/** What every kind of isolation has to start: one Node process, its runner and one pack. */
export interface Launch {
  readonly folder: string;
  readonly flags: readonly string[];
}

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  /** Where the child finds the pack. */
  readonly folder: string;
}

export interface Isolation {
  readonly kind: 'bwrap' | 'unshare' | 'permission-only';
  command(launch: Launch): Command;
}

/** All that the launchers see of the environment; pack code sees none of it. */
export const LAUNCH_ENVIRONMENT = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', TZ: 'UTC' } as const;

export const RUNNER_FOLDER = path.join(import.meta.dirname, '../runner');
export const NODE = process.execPath;

const NOBODY = 65534;
export const BECOME_NOBODY = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'] as const;
export const isRoot = (): boolean => process.getuid?.() === 0;

/** Where things lie in the child's own view of the file system. */
export const INSIDE = { node: '/node', runner: '/runner', pack: '/pack' } as const;

/** The shared libraries of this very Node, which the child's Node is too. */
export function sharedLibraries(): readonly string[] {
  const report: unknown = Object.assign(process.report, { excludeNetwork: true }).getReport();
  const objects =
    typeof report === 'object' && report !== null && 'sharedObjects' in report ? report.sharedObjects : [];
  if (!Array.isArray(objects)) return [];
  return objects.filter((file): file is string => typeof file === 'string' && file.startsWith('/'));
}

/** The inner layer. Never `--allow-net`, `--allow-child-process`, `--allow-worker`, `--allow-addons`, `--allow-wasi`. */
export function nodeArguments(paths: { runner: string; pack: string }, flags: readonly string[]): string[] {
  return [
    '--permission',
    `--allow-fs-read=${paths.runner}`,
    `--allow-fs-read=${paths.pack}`,
    '--frozen-intrinsics',
    '--experimental-vm-modules',
    '--no-experimental-sqlite',
    '--no-experimental-webstorage',
    '--no-experimental-websocket',
    '--no-addons',
    '--no-warnings',
    '--disable-sigusr1',
    ...flags,
    `${paths.runner}/main.mjs`,
  ];
}
