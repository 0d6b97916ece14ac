/** The generators against a stand-in that creates runs and streams their events. */
import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { runClosedLoop } from './closed-loop.ts';
import { drain } from './drain.ts';
import { runFanOut } from './fan-out.ts';
import type { Target } from './http.ts';

const QUIET_MS = 200;
/** Turns of the event loop in which the clients, which are in this process, read what has arrived. */
const TURNS = 50;

const frame = (name: string): string =>
  `event: ${name}\ndata: {"type":"${name}","timestamp":"${new Date(Date.now() + 1).toISOString()}"}\n\n`;

interface StandIn extends Target {
  readonly streams: number;
}

/** Streams stay quiet until `streamsExpected` are open; then each hears `names` and is closed. */
async function standIn(
  t: TestContext,
  options: { streamsExpected: number; names: readonly string[]; status?: number },
): Promise<StandIn> {
  const streams: ServerResponse[] = [];
  const server = createServer((request, response) => {
    if (request.method === 'POST') {
      request.resume();
      const body = '{"runId":"r-1"}';
      response.writeHead(options.status ?? 201, { 'content-length': body.length }).end(body);
      return;
    }
    if (!request.url?.endsWith('/events')) {
      response.end('{"runs":[{}]}');
      return;
    }
    streams.push(response);
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(frame('run.started'));
    if (streams.length < options.streamsExpected) return;
    setTimeout(async () => {
      for (let turn = 0; turn < TURNS; turn++) await setImmediate();
      for (const stream of streams) stream.end(options.names.map(frame).join(''));
    }, QUIET_MS);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    port: (server.address() as AddressInfo).port,
    apiKey: 'k',
    get streams() {
      return streams.length;
    },
  };
}

const load = { connections: 4, durationMs: 60_000, requestsMax: 40, body: '{}', followOneIn: 10 };

test('one run in so many is followed to its end', async (t) => {
  const target = await standIn(t, { streamsExpected: 4, names: ['run.completed'] });
  const counts = await runClosedLoop({ ...load, port: target.port, apiKey: target.apiKey });
  assert.equal(counts.created, 40);
  assert.equal(target.streams, 4);
  assert.equal(counts.endToEndMs.length, 4);
  assert.ok(counts.endToEndMs.every((ms) => ms >= QUIET_MS - 5));
});

test('a run that fails, or whose stream breaks off, breaks the measurement', async (t) => {
  for (const names of [['run.failed'], ['node.started']]) {
    const target = await standIn(t, { streamsExpected: 4, names });
    await assert.rejects(
      runClosedLoop({ ...load, port: target.port, apiKey: 'k' }),
      /run.failed|closed before/,
    );
  }
});

test('refusals are counted, not measured', async (t) => {
  const target = await standIn(t, { streamsExpected: 1, names: [], status: 503 });
  const counts = await runClosedLoop({ ...load, port: target.port, apiKey: 'k' });
  assert.equal(counts.created, 0);
  assert.deepEqual(counts.refused, { 503: 40 });
});

test('a drain that does not end says so', async (t) => {
  const target = await standIn(t, { streamsExpected: 1, names: [] });
  await assert.rejects(drain(target, 30), /still pending/);
});

test('every client of the fan-out hears what happens after all are there', async (t) => {
  const names = ['node.started', 'node.completed', 'run.completed'];
  const target = await standIn(t, { streamsExpected: 20, names });
  const result = await runFanOut({ port: target.port, apiKey: 'k', clients: 20, body: '{}' });
  assert.equal(result.eventsPerClient, 3);
  assert.equal(result.deliveries, 60);
  assert.ok((result.delayMs?.p99 ?? Number.NaN) < 60_000);
});
