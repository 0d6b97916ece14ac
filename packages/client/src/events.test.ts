import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import type { RunEventDoc, RunStatus } from '@gantry/protocol';
import fc from 'fast-check';
import { createClient } from './client.ts';
import { ApiError } from './error.ts';
import type { EventsOptions } from './events.ts';
import {
  type Exchange,
  firstUnseen,
  openStream,
  runLog,
  sendJson,
  sseFrame,
  startTestHost,
} from './testing/test-host.ts';

const FAST = { attemptsMax: 8, baseMs: 1, maxMs: 4 };
const clientOf = (baseUrl: string) => createClient({ baseUrl, apiKey: 'k', retry: FAST, reconnect: FAST });

async function collect(baseUrl: string, options?: EventsOptions): Promise<number[]> {
  const sequences: number[] = [];
  for await (const event of clientOf(baseUrl).runs.events('r1', options)) sequences.push(event.sequence);
  return sequences;
}

const isStream = (request: Exchange) => request.url.startsWith('/v1/runs/r1/events');
const sendRun = (response: ServerResponse, status: RunStatus) =>
  sendJson(response, 200, { runId: 'r1', workflowId: 'w', status });
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
const textOf = (events: readonly RunEventDoc[]) => events.map(sseFrame).join('');

/** How one connection ends: after so many bytes, by a dropped socket or a clean close; or refused. */
type Fault = { afterBytes: number; how: 'drop' | 'close' } | { how: 'refuse' };

function misbehave(response: ServerResponse, fault: Fault, text: string): void {
  if (fault.how === 'refuse') {
    sendJson(response, 503, { error: 'service_unavailable', message: 'Starting.' }, { 'retry-after': '0' });
    return;
  }
  openStream(response);
  const piece = Buffer.from(text).subarray(0, fault.afterBytes);
  if (fault.how === 'close') response.end(piece);
  else response.write(piece, () => response.destroy());
}

const fault: fc.Arbitrary<Fault> = fc.oneof(
  fc.record({ afterBytes: fc.nat(3000), how: fc.constantFrom('drop' as const, 'close' as const) }),
  fc.record({ how: fc.constant('refuse' as const) }),
);

test('every event arrives exactly once, wherever connections break', async (t) => {
  const log = runLog('r1', 12);
  let faults: Fault[] = [];
  const host = await startTestHost(t, (request, response) => {
    if (!isStream(request)) return sendRun(response, faults.length > 0 ? 'running' : 'completed');
    const rest = textOf(log.slice(firstUnseen(request)));
    const next = faults.shift();
    if (next) misbehave(response, next, rest);
    else openStream(response).end(rest);
  });
  await fc.assert(
    fc.asyncProperty(fc.array(fault, { maxLength: 6 }), async (planned) => {
      faults = [...planned];
      assert.deepEqual(await collect(host.url), range(0, 12));
    }),
    { numRuns: 40 },
  );
});

test('a host that sends events again after a reconnect is not heard twice', async (t) => {
  const log = runLog('r1', 4);
  let connections = 0;
  const host = await startTestHost(t, (_request, response) => {
    connections++;
    openStream(response);
    if (connections === 1) response.write(textOf(log.slice(0, 3)), () => response.destroy());
    else response.end(textOf(log));
  });
  assert.deepEqual(await collect(host.url), range(0, 4));
});

test('a host restart in the middle is survived', async (t) => {
  const log = runLog('r1', 6);
  const first = await startTestHost(t, (_request, response) => {
    openStream(response).write(textOf(log.slice(0, 2)));
  });
  const received: number[] = [];
  for await (const event of clientOf(first.url).runs.events('r1')) {
    received.push(event.sequence);
    if (event.sequence !== 1) continue;
    await first.stop();
    const serveRest = (request: Exchange, response: ServerResponse) =>
      openStream(response).end(textOf(log.slice(firstUnseen(request))));
    await startTestHost(
      t,
      (request, response) => void serveRest(request, response),
      Number(new URL(first.url).port),
    );
  }
  assert.deepEqual(received, range(0, 6));
});

test('batch frames are unpacked, keep-alives ignored, options sent', async (t) => {
  const log = runLog('r1', 5);
  const host = await startTestHost(t, (_request, response) => {
    openStream(response);
    response.write(':keepalive\n\n');
    response.write(`id: 2\nevent: batch\ndata: ${JSON.stringify(log.slice(0, 3))}\n\n`);
    response.end(`id: 4\nevent: batch\ndata: ${JSON.stringify(log.slice(3))}\n\n`);
  });
  const options: EventsOptions = { streamMode: ['updates', 'messages'], bufferMs: 50, lastEventId: 0 };
  assert.deepEqual(await collect(host.url, options), range(1, 5));
  assert.equal(host.seen[0]?.url, '/v1/runs/r1/events?streamMode=updates%2Cmessages&bufferMs=50');
  assert.equal(host.seen[0]?.headers['last-event-id'], '0');
  assert.equal(host.seen[0]?.headers.authorization, 'Bearer k');
});

test('a stream that never shows the terminal event ends when the run has ended', async (t) => {
  const chunk = (id: number) =>
    `id: ${id}\nevent: ai.message.chunk\ndata: {"chunk":"c${id}","isLast":false}\n\n`;
  const host = await startTestHost(t, (request, response) => {
    if (!isStream(request)) return sendRun(response, 'completed');
    openStream(response).end(
      [3, 5, 8]
        .filter((id) => id >= firstUnseen(request))
        .map(chunk)
        .join(''),
    );
  });
  assert.deepEqual(await collect(host.url, { streamMode: 'messages' }), [3, 5, 8]);
});

test('a frame made from an event shares its sequence and is kept, once', async (t) => {
  const text = ['output.chunk', 'ai.message.chunk', 'ai.message.chunk', 'output.chunk']
    .map((type) => `id: 1\nevent: ${type}\ndata: {"chunk":"c"}\n\n`)
    .join('');
  const log = runLog('r1', 3);
  const host = await startTestHost(t, (_request, response) => {
    openStream(response).end(textOf(log.slice(0, 1)) + text + textOf(log.slice(2)));
  });
  const types: string[] = [];
  for await (const event of clientOf(host.url).runs.events('r1', { streamMode: ['debug', 'messages'] })) {
    types.push(event.type);
  }
  assert.deepEqual(types, ['run.started', 'output.chunk', 'ai.message.chunk', 'run.completed']);
});

test('values end with the snapshot of an ended run, and resume with the current one', async (t) => {
  const snapshot = (id: number, status: RunStatus) =>
    `id: ${id}\nevent: state.snapshot\ndata: ${JSON.stringify({ runId: 'r1', workflowId: 'w', status })}\n\n`;
  const host = await startTestHost(t, (_request, response) => {
    openStream(response).write(snapshot(2, 'running') + snapshot(4, 'completed'));
  });
  assert.deepEqual(await collect(host.url, { streamMode: 'values', lastEventId: 2 }), [2, 4]);
});

test('after the terminal event nothing is asked again', async (t) => {
  const host = await startTestHost(t, (_request, response) => {
    openStream(response).end(textOf(runLog('r1', 2)));
  });
  assert.deepEqual(await collect(host.url), [0, 1]);
  assert.equal(host.seen.length, 1);
});

test('a refusal is not retried', async (t) => {
  const host = await startTestHost(t, (_request, response) => {
    sendJson(response, 404, { error: 'not_found', message: 'No such run.' });
  });
  await assert.rejects(collect(host.url), (error) => error instanceof ApiError && error.code === 'not_found');
  assert.equal(host.seen.length, 1);
});

test('a host that stays away ends the stream after the allowed attempts, naming the next step', async (t) => {
  const host = await startTestHost(t, () => {});
  await host.stop();
  await assert.rejects(collect(host.url), /ECONNREFUSED.*gantry start/);
});

test('aborting ends the iteration and closes the connection', async (t) => {
  const closed = Promise.withResolvers<void>();
  const host = await startTestHost(t, (_request, response) => {
    openStream(response).write(textOf(runLog('r1', 5).slice(0, 1)));
    response.on('close', () => closed.resolve());
  });
  const stopping = new AbortController();
  await assert.rejects(async () => {
    for await (const _event of clientOf(host.url).runs.events('r1', { signal: stopping.signal })) {
      stopping.abort(new Error('enough'));
    }
  }, /enough/);
  await closed.promise;
});

test('leaving the loop closes the connection', async (t) => {
  const closed = Promise.withResolvers<void>();
  const host = await startTestHost(t, (_request, response) => {
    openStream(response).write(textOf(runLog('r1', 5).slice(0, 2)));
    response.on('close', () => closed.resolve());
  });
  for await (const event of clientOf(host.url).runs.events('r1')) {
    assert.equal(event.sequence, 0);
    break;
  }
  await closed.promise;
});
