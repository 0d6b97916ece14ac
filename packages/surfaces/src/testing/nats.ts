/** NATS with JetStream. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { openTest, type ServerKind, skipOf, type TestServer } from './server-kind.ts';
import { binary, freePort } from './servers.ts';

const server = binary('nats-server');

export const NATS: ServerKind = {
  name: 'NATS',
  given: 'GANTRY_TEST_NATS_URL',
  remedy: 'install nats-server on this machine',
  prepare: server
    ? async (folder) => {
        const [port, pidFile] = [await freePort(), join(folder, 'pid')];
        const where = ['-a', '127.0.0.1', '-p', String(port), '-P', pidFile];
        return {
          url: `nats://127.0.0.1:${port}`,
          command: [server, '-js', '-sd', folder, ...where],
          pidFile,
          ask: () => greeted(port),
        };
      }
    : null,
};

export const natsSkip: string | false = skipOf(NATS);
export const openTestNats = (): Promise<TestServer> => openTest(NATS);

async function greeted(port: number): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1' });
  try {
    await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => assert.fail('closed'))]);
  } finally {
    socket.destroy();
  }
}
