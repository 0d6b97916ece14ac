/** Servers that can be killed as `kill -9` does it, with all that they started, and come back with their data. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as later } from 'node:timers/promises';
import { startGuarded } from './servers.ts';

export interface CrashServer {
  readonly url: string;
  kill(): Promise<void>;
  /** With the data that it had. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface Killable {
  readonly url: string;
  readonly command: readonly string[];
  /** Goes with the server. */
  readonly folder: string;
  /** Its first line is the id of the process. */
  readonly pidFile: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Rejects while the server does not answer. */
  ask(): Promise<unknown>;
}

export const noProc: string | false =
  process.platform === 'linux' ? false : 'processes of servers are looked up in /proc';

const PATIENCE_MS = 60_000;
const AGAIN_MS = 25;

export async function openKillable(killable: Killable): Promise<CrashServer> {
  const { url, command, folder, pidFile, env, ask } = killable;
  const isUp = (): Promise<boolean> => ask().then(Boolean.bind(null, true), () => false);
  const start = () =>
    startGuarded(command, { folder, isReady: () => until(isUp), ...(env !== undefined && { env }) });
  const started = [await start()];
  return {
    url,
    async kill() {
      const processes = treeOf(Number(readFileSync(pidFile, 'utf8').split('\n')[0]));
      for (const pid of processes) killNow(pid);
      await until(async () => !processes.some(isThere));
    },
    start: async () => void started.push(await start()),
    stop: async () => void (await Promise.all(started.map((each) => each.stop()))),
  };
}

/** A server that starts or ends can only be asked until it did. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (const late = Date.now() + PATIENCE_MS; !(await isSo()); await later(AGAIN_MS))
    if (Date.now() > late) throw new Error('The server did neither start nor end');
}

/** Parents first, so that none starts another child meanwhile. */
function treeOf(pid: number): number[] {
  const threads = entriesOf(`/proc/${pid}/task`);
  const children = threads.flatMap((thread) =>
    textOf(`/proc/${pid}/task/${thread}/children`).split(' ').filter(Boolean).map(Number),
  );
  return [pid, ...children.flatMap(treeOf)];
}

function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It went with its parent
  }
}

const isThere = (pid: number): boolean => /^State:\s+[^ZX]/m.test(textOf(`/proc/${pid}/status`));

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
