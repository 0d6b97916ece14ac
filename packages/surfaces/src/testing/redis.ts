/** Redis that writes every change to disk before it answers, unless it is told otherwise. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import {
  openPrivate,
  openTest,
  type PrivateServer,
  privateSkipOf,
  type ServerKind,
  skipOf,
  type TestServer,
} from './server-kind.ts';
import { binary, freePort } from './servers.ts';

const server = binary('redis-server');

/** Settings are of the server, as `--appendonly no`. */
const redis = (...settings: readonly string[]): ServerKind => ({
  name: 'Redis',
  given: 'GANTRY_TEST_REDIS_URL',
  remedy: 'install redis-server on this machine',
  prepare: server
    ? async (folder) => {
        const [port, pidFile] = [await freePort(), join(folder, 'pid')];
        const where = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--pidfile', pidFile];
        const durable = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'always'];
        return {
          url: `redis://127.0.0.1:${port}/0`,
          command: [server, ...where, ...durable, ...settings],
          pidFile,
          ask: () => pinged(port),
        };
      }
    : null,
});

export const redisSkip: string | false = skipOf(redis());
export const privateRedisSkip: string | false = privateSkipOf(redis());
export const openTestRedis = (): Promise<TestServer> => openTest(redis());
export const openPrivateRedis = (...settings: string[]): Promise<PrivateServer> =>
  openPrivate(redis(...settings));

async function pinged(port: number): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1' });
  try {
    socket.write('PING\r\n');
    const closed = once(socket, 'close').then(() => assert.fail('closed'));
    const [reply] = await Promise.race([once(socket, 'data'), closed]);
    assert.match(String(reply), /^(\+PONG|-NOAUTH)/);
  } finally {
    socket.destroy();
  }
}
