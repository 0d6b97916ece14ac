/** The servers that are measured. */
import { mkdirSync, mkdtempSync } from 'node:fs';
import path from 'node:path';
import { type Server, startServer } from './children.ts';
import type { Target } from './load/http.ts';
import { SLOW_COMMIT_MS } from './settings.ts';

export const API_KEY = 'bench-key-of-one-run-0123456789abcdef';

const here = import.meta.dirname;
const script = {
  bare: path.join(here, 'bare/server.ts'),
  bareFanOut: path.join(here, 'bare/fan-out-server.ts'),
  host: path.join(here, '../packages/host/bin/start.mjs'),
  slowHost: path.join(here, 'slow-disk-host.ts'),
};

export type Disk = 'fast' | 'slow';

export const targetOf = (server: Server): Target => ({ port: server.port, apiKey: API_KEY });

export function freshFolder(dataDir: string): string {
  mkdirSync(dataDir, { recursive: true });
  return mkdtempSync(path.join(dataDir, 'server-'));
}

export function startBare(folder: string, disk: Disk): Promise<Server> {
  const delay = disk === 'slow' ? ['--commit-delay-ms', String(SLOW_COMMIT_MS)] : [];
  return startServer({
    args: [script.bare, '--file', path.join(folder, 'bare.db'), ...delay],
    readyPath: '/',
  });
}

export const startBareFanOut = (): Promise<Server> =>
  startServer({ args: [script.bareFanOut], readyPath: '/' });

const serverOf = (
  script: string,
  folder: string,
  more: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Server> =>
  startServer({
    args: [script, '--port', '0', '--data', folder, '--workflows', path.join(here, 'workflows'), ...more],
    // Processes that share a database share it
    // The second name is for earlier commits that it is compared with
    env: {
      GANTRY_ADMIN_KEY: API_KEY,
      GANTRY_API_KEY: API_KEY,
      GANTRY_MASTER_KEY: 'bench-master-key-of-all-processes',
      ...env,
    },
    readyPath: '/readyz',
  });

export const startHost = (
  folder: string,
  disk: Disk,
  env: Readonly<Record<string, string>> = {},
): Promise<Server> => serverOf(disk === 'slow' ? script.slowHost : script.host, folder, [], env);

/** The folder of this repository. */
export const THIS_CHECKOUT = path.join(here, '..');

/** The host of another checkout, or with a database of its own. */
export const startHostOf = (checkout: string, folder: string, databaseUrl: string | null): Promise<Server> =>
  serverOf(
    path.join(checkout, 'packages/host/bin/start.mjs'),
    folder,
    databaseUrl === null ? [] : ['--database', databaseUrl],
  );

/** Runs `use` with a server on a fresh folder, and stops the server whatever happens. */
export async function withHost<T>(dataDir: string, use: (server: Server) => Promise<T>): Promise<T> {
  const server = await startHost(freshFolder(dataDir), 'fast');
  try {
    return await use(server);
  } finally {
    await server.stop();
  }
}
