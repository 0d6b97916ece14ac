import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { failsWith, loopbackEgress, textOf } from './testing/egress.ts';
import { httpServer } from './testing/server.ts';

const egress = loopbackEgress();

async function textFrom(body: ReadableStream<Uint8Array>): Promise<string> {
  const parts: string[] = [];
  for await (const chunk of body) parts.push(textOf(chunk));
  return parts.join('');
}

test('a body is read while it arrives', async (t) => {
  const go = Promise.withResolvers<void>();
  const port = await httpServer(t, (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('first');
    void go.promise.then(() => response.end('second'));
  });
  const { status, headers, body } = await egress.stream(`http://127.0.0.1:${port}/`);
  assert.deepEqual([status, headers.get('content-type')], [200, 'text/event-stream']);
  const reader = body.getReader();
  assert.equal(textOf((await reader.read()).value ?? new Uint8Array()), 'first');
  go.resolve();
  assert.equal(textOf((await reader.read()).value ?? new Uint8Array()), 'second');
  assert.equal((await reader.read()).done, true);
});

test('time, size and the patience of the caller bound it as they bound a request', async (t) => {
  const port = await httpServer(t, (request, response) => {
    response.writeHead(200);
    response.write('x'.repeat(request.url === '/large' ? 1_000 : 1));
  });
  const at = (path: string) => `http://127.0.0.1:${port}${path}`;
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const slow = await egress.stream(at('/slow'), { timeoutMs: 5_000 });
  const late = failsWith(textFrom(slow.body), 'timeout');
  t.mock.timers.tick(5_000);
  assert.equal((await late).sent, true);
  t.mock.timers.reset();
  const large = await egress.stream(at('/large'), { maxResponseBytes: 999 });
  await failsWith(textFrom(large.body), 'response_too_large');
  const stop = new AbortController();
  const given = await egress.stream(at('/given-up'), { signal: stop.signal });
  stop.abort();
  await failsWith(textFrom(given.body), 'aborted');
});

test('a reader who cancels closes the connection, and a refusal sends nothing', async (t) => {
  const closed = Promise.withResolvers<void>();
  const port = await httpServer(t, (request, response) => {
    response.write('x');
    void once(request.socket, 'close').then(() => closed.resolve());
  });
  const { body } = await egress.stream(`http://127.0.0.1:${port}/`);
  const reader = body.getReader();
  await reader.read();
  await reader.cancel();
  await closed.promise;
  await failsWith(egress.stream('https://10.0.0.1/'), 'address_not_allowed');
});

test('a server that falls silent within a body is not waited for, one that goes on is', async (t) => {
  const chunks = Promise.withResolvers<(text: string) => void>();
  const port = await httpServer(t, (_request, response) => {
    response.writeHead(200);
    chunks.resolve((text) => void response.write(text));
  });
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const work = egress.stream(`http://127.0.0.1:${port}/`, { timeoutMs: 60_000, idleTimeoutMs: 1_000 });
  const send = await chunks.promise;
  send('0');
  const reader = (await work).body.getReader();
  for (const expected of ['0', '1', '2', '3']) {
    assert.equal(textOf((await reader.read()).value ?? new Uint8Array()), expected);
    t.mock.timers.tick(900);
    send(String(Number(expected) + 1));
  }
  await reader.read();
  const silent = failsWith(reader.read(), 'timeout');
  t.mock.timers.tick(1_000);
  assert.match((await silent).message, /sent nothing for 1000 ms/);
});

test('a reader that lags behind waits for bytes, also where a packet ends within a chunk', async (t) => {
  const socket = Promise.withResolvers<Socket>();
  const port = await httpServer(t, (request, response) => {
    response.writeHead(200, { 'transfer-encoding': 'chunked' }).flushHeaders();
    socket.resolve(request.socket);
  });
  const { body } = await egress.stream(`http://127.0.0.1:${port}/`);
  const server = await socket.promise;
  const reader = body.getReader();
  const next = async (): Promise<string> => textOf((await reader.read()).value ?? new Uint8Array());
  const first = next();
  server.write('5\r\nfirst\r\n6\r\nsec');
  assert.deepEqual([await first, await next()], ['first', 'sec']);
  const last = next();
  server.write('ond\r\n0\r\n\r\n');
  assert.equal(await last, 'ond');
  assert.equal((await reader.read()).done, true);
});
