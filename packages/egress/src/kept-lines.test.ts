import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { failsWith, loopbackEgress, textOf } from './testing/egress.ts';
import { httpServer, rawServer } from './testing/server.ts';

/** Answers with the number of the connection, counted from 1. */
async function countingServer(t: TestContext, headers: Readonly<Record<string, string>> = {}) {
  const connections: unknown[] = [];
  const count: RequestListener = ({ socket }, response) => {
    if (!connections.includes(socket)) connections.push(socket);
    response.writeHead(200, headers).end(`${connections.indexOf(socket) + 1}`);
  };
  return httpServer(t, count, '0.0.0.0');
}

test('a connection is used again for the same tenant and origin, and by nobody else', async (t) => {
  const port = await countingServer(t);
  const egress = loopbackEgress(async () => ['127.0.0.1']);
  t.after(() => egress.close());
  const used = async (host: string, tenant: string) =>
    textOf((await egress.request(`http://${host}:${port}/`, { tenant })).body);
  assert.equal(await used('hook.example', 'a'), '1');
  assert.equal(await used('hook.example', 'a'), '1');
  assert.equal(await used('hook.example', 'b'), '2');
  assert.equal(await used('other.example', 'a'), '3');
  assert.deepEqual(await Promise.all([used('hook.example', 'a'), used('hook.example', 'a')]), ['1', '4']);
});

test('a name that moved gets a connection to its new address, and one that may not be called gets none', async (t) => {
  const port = await countingServer(t);
  const answers = ['127.0.0.1', '127.0.0.2', '10.0.0.1', '127.0.0.2'];
  const egress = loopbackEgress(async () => [answers.shift() ?? '']);
  t.after(() => egress.close());
  const url = `http://hook.example:${port}/`;
  assert.equal((await egress.request(url)).address, '127.0.0.1');
  const moved = await egress.request(url);
  assert.deepEqual([moved.address, textOf(moved.body)], ['127.0.0.2', '2']);
  await failsWith(egress.request(url), 'address_not_allowed');
  assert.equal(textOf((await egress.request(url)).body), '2');
});

test('what the server ends, cuts short or is not read to its end is not kept', async (t) => {
  const closing = await countingServer(t, { connection: 'close' });
  const egress = loopbackEgress();
  t.after(() => egress.close());
  for (const connection of ['1', '2'])
    assert.equal(textOf((await egress.request(`http://127.0.0.1:${closing}/`)).body), connection);
  const port = await countingServer(t);
  await failsWith(egress.request(`http://127.0.0.1:${port}/`, { maxResponseBytes: 0 }), 'response_too_large');
  await (await egress.stream(`http://127.0.0.1:${port}/`)).body.cancel();
  const streamed = await egress.stream(`http://127.0.0.1:${port}/`);
  for await (const _ of streamed.body);
  assert.equal(textOf((await egress.request(`http://127.0.0.1:${port}/`)).body), '3');
});

test('a kept connection that breaks costs a safe request nothing; others hear that they may have been received', async (t) => {
  let connections = 0;
  const port = await rawServer(t, (socket) => {
    connections += 1;
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
      socket.once('data', () => socket.destroy());
    });
  });
  const egress = loopbackEgress();
  t.after(() => egress.close());
  const request = (method: string) => egress.request(`http://127.0.0.1:${port}/`, { method });
  await request('POST');
  assert.equal(textOf((await request('GET')).body), 'ok');
  assert.equal(connections, 2);
  assert.equal((await failsWith(request('POST'), 'connect_failed')).sent, true);
  assert.equal(connections, 2);
});

test('closing ends what is kept; what is under way may finish and is not kept either', async (t) => {
  const closed: Promise<unknown>[] = [];
  const go = Promise.withResolvers<void>();
  const port = await httpServer(t, (request, response) => {
    closed.push(once(request.socket, 'close'));
    if (request.url === '/slow') void go.promise.then(() => response.end('late'));
    else response.end();
  });
  const egress = loopbackEgress();
  await egress.request(`http://127.0.0.1:${port}/`);
  const { body } = await egress.stream(`http://127.0.0.1:${port}/`, { tenant: 'b' });
  for await (const _ of body);
  const slow = egress.request(`http://127.0.0.1:${port}/slow`, { tenant: 'c' });
  while (closed.length < 3) await new Promise(setImmediate);
  egress.close();
  go.resolve();
  assert.equal(textOf((await slow).body), 'late');
  await Promise.all(closed);
});

test('a process with kept connections ends', async (t) => {
  const port = await httpServer(t, (_request, response) =>
    response.setHeader('keep-alive', 'timeout=600').end(),
  );
  const url = new URL('./testing/egress.ts', import.meta.url);
  const code = `const { loopbackEgress } = await import('${url}');
    console.log((await loopbackEgress().request('http://127.0.0.1:${port}/')).status);`;
  const args = ['--input-type=module', '--eval', code];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 120_000 });
  assert.equal(stdout, '200\n');
});
