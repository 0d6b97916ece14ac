/** A Redis server: the one at `GANTRY_TEST_REDIS_URL`, else a private one from this machine. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { freshFolder } from './data-dir.ts';
import { binary, freePort, type GuardedServer, missing, startGuarded } from './servers.ts';

const given = process.env.GANTRY_TEST_REDIS_URL;
const server = binary('redis-server');

const REMEDY = 'set GANTRY_TEST_REDIS_URL, or install redis-server on this machine';

export const redisSkip: string | false = given || server ? false : missing('Redis', REMEDY);
export const privateRedisSkip: string | false = server ? false : missing('Redis', 'install redis-server');

export interface TestRedis extends GuardedServer {
  readonly url: string;
  /** As `kill -9` does it. */
  kill(): Promise<void>;
  /** With the data that it had. */
  start(): Promise<void>;
}

/** The given server if there is one: for tests that leave it as it is. */
export const openTestRedis = (): Promise<Pick<TestRedis, 'url' | 'stop'>> =>
  given ? Promise.resolve({ url: given, stop: async () => {} }) : openPrivateRedis();

/** Settings are of the server, as `--appendonly no`. */
export async function openPrivateRedis(...settings: string[]): Promise<TestRedis> {
  const folder = freshFolder().path;
  const port = await freePort();
  const pidFile = join(folder, 'pid');
  const command = [
    server!,
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--dir',
    folder,
    '--pidfile',
    pidFile,
    '--save',
    '',
    '--appendonly',
    'yes',
    '--appendfsync',
    'always',
    ...settings,
  ];
  const start = () => startGuarded(command, { folder, isReady: () => until(() => answers(port)) });
  const started = [await start()];
  return {
    url: `redis://127.0.0.1:${port}/0`,
    async kill() {
      process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGKILL');
      await until(async () => !(await answers(port)));
    },
    start: async () => void started.push(await start()),
    stop: async () => void (await Promise.all(started.map((each) => each.stop()))),
  };
}

const PATIENCE_MS = 10_000;
const AGAIN_MS = 25;

/** A server that starts or ends can only be asked until it did. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (const late = Date.now() + PATIENCE_MS; !(await isSo()); await later(AGAIN_MS))
    if (Date.now() > late) throw new Error('Redis did neither start nor end');
}

async function answers(port: number): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1' });
  try {
    socket.write('PING\r\n');
    const [reply] = await once(socket, 'data');
    return /^(\+PONG|-NOAUTH)/.test(String(reply));
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
