/** Private servers for tests, from binaries of this machine. They end with this process (kill -9 included). */
import { spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

const FOLDERS = ['/usr/sbin', '/usr/bin', '/usr/local/bin', '/opt/homebrew/bin', '/opt/homebrew/sbin'];

export const binary = (name: string): string | undefined =>
  FOLDERS.map((folder) => join(folder, name)).find((path) => existsSync(path));

/** With `CI=true` a missing server is an error, so that it cannot go unnoticed. */
export function missing(what: string, remedy: string): string {
  if (process.env.CI === 'true') throw new Error(`No ${what} for the tests: ${remedy}`);
  return remedy;
}

/**
 * The shell waits for the end of its input, which comes when this process is gone, whatever ended it. Then it ends
 * all that it started, and itself: servers may be scripts that start others.
 */
const GUARD = `
  "$@" &
  cat > /dev/null
  rm -rf "$0"
  kill -KILL 0
`;

export interface GuardedServer {
  stop(): Promise<void>;
}

export interface GuardedOptions {
  /** Goes with the server. */
  readonly folder: string;
  readonly isReady: () => Promise<void>;
  readonly env?: NodeJS.ProcessEnv;
}

export async function startGuarded(
  command: readonly string[],
  { folder, isReady, env }: GuardedOptions,
): Promise<GuardedServer> {
  const child = spawn('sh', ['-c', GUARD, folder, ...command], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: { ...process.env, ...env },
  });
  child.unref();
  if (child.stdin && 'unref' in child.stdin) (child.stdin.unref as () => void)();
  await isReady();
  return {
    async stop() {
      const exited = once(child, 'exit');
      child.ref();
      child.stdin.end();
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Below those that outgoing connections get: it is still free when it is bound, a while later or again. */
const PORTS = [15_000, 30_000] as const;

export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(...PORTS);
    const probe = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      probe.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => probe.close(resolve));
    return port;
  }
}

export interface RunOptions {
  readonly cwd: string;
  readonly uid?: number;
  readonly gid?: number;
}

export function run(command: string, args: readonly string[], options: RunOptions): void {
  const { status, stderr } = spawnSync(command, args, { ...options, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} failed: ${stderr}`);
}
