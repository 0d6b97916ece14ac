/** Servers that are none, or not ready for TLS: who waits for a connection hears of it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type ListenOptions, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openPostgres } from './open-postgres.ts';

const SSL_REQUEST = '0000000804d2162f';

async function listening(
  t: TestContext,
  at: ListenOptions,
  onFirst: (socket: Socket, said: Buffer | string) => void,
) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    socket.once('data', (said) => onFirst(socket, said));
  });
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  await once(server.listen(at), 'listening');
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
}

function opened(t: TestContext, url: string, connectTimeoutS = 60) {
  const sql = openPostgres({ url, connectTimeoutS, connectionsMax: 2, connection: {} });
  t.after(() => sql.end({ timeout: 0 }));
  return sql;
}

const ANSWERS = {
  'has no TLS': { answer: 'N', code: 'NO_TLS' },
  'is something else': { answer: 'HTTP/1.1 400 Bad Request', code: 'EPROTO' },
  'says more than yes, which could be taken for said under TLS': { answer: 'SE', code: 'EPROTO' },
  'speaks no TLS after its yes': { answer: 'S', next: 'no TLS at all', code: /^ERR_SSL_/ },
};
for (const [what, { answer, code, ...more }] of Object.entries(ANSWERS))
  test(`a server that ${what}`, async (t) => {
    const port = await listening(t, { host: '127.0.0.1', port: 0 }, (socket, said) => {
      assert.equal(Buffer.from(said).toString('hex'), SSL_REQUEST);
      socket.write(answer);
      if ('next' in more) socket.once('data', () => socket.write(more.next));
    });
    const sql = opened(t, `postgres://u:p@127.0.0.1:${port}/db?sslmode=require`);
    const asked = [1, 2, 3].map(() => sql.begin((tx) => tx`select 1`));
    for (const each of asked)
      await assert.rejects(each, (error: { code?: string }) => {
        assert.match(error.code ?? '', new RegExp(code));
        return true;
      });
    await assert.rejects(sql.listen('channel', () => {}));
  });

for (const answer of ['', 'S'])
  test(`a server that says ${answer ? 'yes and then nothing' : 'nothing'} is waited for no longer than was said`, async (t) => {
    const port = await listening(t, { host: '127.0.0.1', port: 0 }, (socket) => void socket.write(answer));
    const sql = opened(t, `postgres://u:p@127.0.0.1:${port}/db?sslmode=verify-full`, 0.1);
    const asked = await Promise.allSettled([1, 2, 3, 4, 5, 6, 7, 8].map(() => sql`select 1`));
    const codes = asked.map((each) => each.status === 'rejected' && each.reason.code);
    assert.deepEqual(codes.slice(0, 4), Array(4).fill('CONNECT_TIMEOUT'));
    assert.ok(
      codes.every((code) => /^CONNECT/.test(String(code))),
      'and so do those behind them',
    );
  });

test('one that ends while TLS is agreed on lets nobody wait', async (t) => {
  const port = await listening(t, { host: '127.0.0.1', port: 0 }, () => void sql.end({ timeout: 0 }));
  const sql = opened(t, `postgres://u:p@127.0.0.1:${port}/db?sslmode=require`);
  const ended = await Promise.allSettled([sql`select 1`, sql.begin((tx) => tx`select 1`)]);
  assert.ok(ended.every(({ status }) => status === 'rejected'));
});

async function reaches(t: TestContext, at: ListenOptions, url: (port: number) => string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const port = await listening(t, at, (socket, said) => {
    resolve(String(said));
    socket.destroy();
  });
  const sql = opened(t, url(port));
  await assert.rejects(async () => sql`select 1`);
  assert.match(await promise, /user\0u\0database\0db\0/);
}

test('an address of version 6 is reached', async (t) => {
  try {
    await reaches(t, { host: '::1', port: 0 }, (port) => `postgres://u:p@[::1]:${port}/db`);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRNOTAVAIL')
      return t.skip('this machine has no IPv6');
    throw error;
  }
});

test('a socket in a folder is reached', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-socket-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, '.s.PGSQL.5432');
  await reaches(t, { path }, () => `postgres://u:p@localhost/db?host=${folder}`);
});
