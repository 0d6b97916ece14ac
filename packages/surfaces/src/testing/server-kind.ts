/**
 * Every kind of server that tests use, told as one literal: where it is given, what it needs, and how one is started in
 * a folder of its own. From it follow the server of a test, a private one that can be killed, and why there is none.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as later } from 'node:timers/promises';
import { freshFolder } from './data-dir.ts';
import { isThere, killNow, treeOf } from './process-tree.ts';
import { missing, startGuarded } from './servers.ts';

export interface Recipe {
  readonly url: string;
  readonly command: readonly string[];
  /** Its first line is the id of the process. */
  readonly pidFile: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Rejects while the server does not answer. */
  ask(): Promise<unknown>;
}

export interface ServerKind {
  readonly name: string;
  /** The variable with the address of one that is there. */
  readonly given?: string;
  /** What to do when there is none. */
  readonly remedy: string;
  /** Writes what it needs into the folder, which goes with the server. Null: its programs are not on this machine. */
  readonly prepare: ((folder: string) => Promise<Recipe>) | null;
}

export interface TestServer {
  readonly url: string;
  stop(): Promise<void>;
}

export interface PrivateServer extends TestServer {
  /** As `kill -9` does it, with all that it started. */
  kill(): Promise<void>;
  /** With the data that it had. */
  start(): Promise<void>;
}

const givenTo = ({ given }: ServerKind): string | undefined => given && process.env[given];

export const privateSkipOf = ({ name, remedy, prepare }: ServerKind): string | false =>
  prepare ? false : missing(name, remedy);

export function skipOf(kind: ServerKind): string | false {
  if (givenTo(kind)) return false;
  const { given, remedy } = kind;
  return privateSkipOf({ ...kind, remedy: given ? `set ${given}, or ${remedy}` : remedy });
}

/** The given one if there is one: for tests that leave it as it is. */
export async function openTest(kind: ServerKind): Promise<TestServer> {
  const url = givenTo(kind);
  return url ? { url, stop: async () => {} } : openPrivate(kind);
}

export async function openPrivate({ name, remedy, prepare }: ServerKind): Promise<PrivateServer> {
  if (!prepare) throw new Error(`No ${name} for the tests: ${remedy}`);
  const folder = freshFolder().path;
  const { url, command, pidFile, env = {}, ask } = await prepare(folder);
  const isUp = (): Promise<boolean> =>
    ask().then(
      () => true,
      () => false,
    );
  const start = () => startGuarded(command, { folder, env, isReady: () => until(name, isUp) });
  const started = [await start()];
  return {
    url,
    async kill() {
      const processes = treeOf(Number(readFileSync(pidFile, 'utf8').split('\n')[0]));
      for (const pid of processes) killNow(pid);
      await until(name, async () => !processes.some(isThere) && !(await isUp()));
    },
    start: async () => void started.push(await start()),
    stop: async () => void (await Promise.all(started.map((each) => each.stop()))),
  };
}

const PATIENCE_MS = 60_000;
const AGAIN_MS = 25;

/** A server that starts or ends can only be asked until it did. */
async function until(name: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const late = Date.now() + PATIENCE_MS; !(await isSo()); await later(AGAIN_MS))
    if (Date.now() > late) throw new Error(`${name} did neither start nor end`);
}
