/** Streams over real sockets. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { type TestContext, test } from 'node:test';
import { openSqlite } from '@gantry/store';
import { pino } from 'pino';
import { createConsole } from '../console/console.ts';
import { Features } from '../feature.ts';
import { openMasterKey } from '../master-key.ts';
import { createRedactions } from '../redaction/redactions.ts';
import { node, workflow } from '../testing/definitions.ts';
import { TEST_KEY, temporaryFolder } from '../testing/host-process.ts';
import { noPacks } from '../testing/no-packs.ts';
import { createWorkflows } from '../workflows/workflows.ts';
import { createApi } from './server.ts';
import { type ApiTest, apiTest, assertPublic } from './testing/api-test.ts';

interface Frame {
  id: string;
  event: string;
  data: string;
}

interface Stream {
  readonly response: IncomingMessage;
  /** The next frame; undefined when the host closed the stream. */
  next(): Promise<Frame | undefined>;
  rest(): Promise<Frame[]>;
}

function parseFrame(text: string): Frame {
  const frame: Frame = { id: '', event: '', data: '' };
  for (const line of text.split('\n')) {
    const [name = '', value = ''] = line.split(/: (.*)/s);
    if (name === 'id' || name === 'event' || name === 'data') frame[name] = value;
  }
  return frame;
}

async function* frames(response: IncomingMessage): AsyncGenerator<Frame, undefined> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) {
    text += chunk;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const frame = text.slice(0, end);
      text = text.slice(end + 2);
      if (!frame.startsWith(':')) yield parseFrame(frame);
    }
  }
  return undefined;
}

async function open(url: string, headers: Record<string, string> = {}): Promise<Stream> {
  const request = get(url, {
    agent: false,
    headers: { authorization: `Bearer ${TEST_KEY}`, accept: 'text/event-stream', ...headers },
  });
  const [response]: IncomingMessage[] = await once(request, 'response');
  const read = frames(response!);
  const next = async (): Promise<Frame | undefined> => (await read.next()).value;
  return {
    response: response!,
    next,
    async rest() {
      const all: Frame[] = [];
      for (let frame = await next(); frame; frame = await next()) all.push(frame);
      return all;
    },
  };
}

interface StreamTest extends ApiTest {
  url(runId: string, query?: string): string;
}

const pausing = workflow('pausing', [
  node('wait', 'core.delay', { delayMs: 3_600_000 }),
  node('after', 'core.noop'),
]);

async function streamTest(t: TestContext): Promise<StreamTest> {
  const api = await apiTest(t, {
    workflows: [
      pausing,
      workflow(
        'three',
        ['a', 'b', 'c'].map((id) => node(id, 'core.noop')),
      ),
    ],
  });
  const address = await api.host.start();
  return { ...api, url: (runId, query = '') => `${address}/v1/runs/${runId}/events?${query}` };
}

const ids = (list: readonly Frame[]): number[] => list.map((frame) => Number(frame.id));
const types = (list: readonly Frame[]): string[] => list.map((frame) => frame.event);

test('a finished run is streamed whole and closed', async (t) => {
  const api = await streamTest(t);
  const runId = await api.start('three');
  await api.ended(runId);
  const stream = await open(api.url(runId, 'streamMode=debug'));
  assert.match(String(stream.response.headers['content-type']), /^text\/event-stream/);
  assert.equal(stream.response.headers['transfer-encoding'], undefined);
  const sent = await stream.rest();
  const { events } = (await api.get(`/v1/runs/${runId}/events/poll`)).json();
  assert.deepEqual(
    sent.map((frame) => JSON.parse(frame.data)),
    events,
  );
  assert.deepEqual(
    ids(sent),
    events.map((event: { sequence: number }) => event.sequence),
  );
  assert.equal(sent.at(-1)?.event, 'run.completed');
});

test('a stream begins at the sequence that was asked for', async (t) => {
  const api = await streamTest(t);
  const runId = await api.start('three');
  await api.ended(runId);
  const [first] = await (await open(api.url(runId, 'streamMode=debug&fromSequence=2'))).rest();
  assert.equal(first?.id, '2');
});

test('updates leave out what only debuggers want', async (t) => {
  const api = await streamTest(t);
  const runId = await api.start('three');
  const sent = await (await open(api.url(runId))).rest();
  assert.deepEqual(types(sent), [
    'run.started',
    'node.completed',
    'node.completed',
    'node.completed',
    'run.completed',
  ]);
});

test('a live stream hears each event once, from any place', async (t) => {
  const api = await streamTest(t);
  const runId = await api.start('pausing');
  const early = await open(api.url(runId, 'streamMode=debug'));
  assert.equal((await early.next())?.event, 'run.started');
  await api.post(`/v1/runs/${runId}:pause`, { drainPolicy: 'immediate' });
  const late = await open(api.url(runId, 'streamMode=debug'), { 'last-event-id': '0' });
  const query = await open(api.url(runId, 'streamMode=debug&lastEventId=0'));
  await api.post(`/v1/runs/${runId}/cancel`);
  const sent = await early.rest();
  const all = (await api.get(`/v1/runs/${runId}/events/poll`)).json().events.length;
  assert.deepEqual(
    ids(sent),
    Array.from({ length: all - 1 }, (_, i) => i + 1),
  );
  assert.deepEqual(await late.rest(), sent);
  assert.deepEqual(await query.rest(), sent);
});

test('a reader who has the end gets nothing more', async (t) => {
  const api = await streamTest(t);
  const runId = await api.start('three');
  await api.ended(runId);
  const { lastEventSeq } = (await api.get(`/v1/runs/${runId}/events/poll`)).json();
  for (const mode of ['updates', 'values']) {
    const stream = await open(api.url(runId, `streamMode=${mode}`), {
      'last-event-id': String(lastEventSeq),
    });
    assert.equal(stream.response.statusCode, 200);
    assert.deepEqual(await stream.rest(), []);
  }
});

test('values are snapshots, the last of them the run as it is read', async (t) => {
  const api = await streamTest(t);
  const runId = await api.start('three');
  const last = await api.ended(runId);
  const sent = await (await open(api.url(runId, 'streamMode=values'))).rest();
  assert.deepEqual([...new Set(types(sent))], ['state.snapshot']);
  for (const frame of sent) assertPublic('run-snapshot.schema.json', JSON.parse(frame.data));
  assert.deepEqual(JSON.parse(sent.at(-1)!.data), last);
  const after = Number(sent[1]!.id);
  const resumed = await (
    await open(api.url(runId, 'streamMode=values'), { 'last-event-id': String(after) })
  ).rest();
  assert.deepEqual(resumed, sent.slice(1), 'first the state at the cursor, then what followed');
});

test('messages of a run without models are none; mixed modes are a union', async (t) => {
  const api = await streamTest(t);
  const runId = await api.start('three');
  assert.deepEqual(await (await open(api.url(runId, 'streamMode=messages'))).rest(), []);
  const mixed = await (await open(api.url(runId, 'streamMode=updates,messages'))).rest();
  assert.equal(mixed.at(-1)?.event, 'run.completed');
});

test('buffered events come in batches, and the end does not wait', async (t) => {
  const api = await streamTest(t);
  const runId = await api.start('pausing');
  const stream = await open(api.url(runId, 'streamMode=debug&bufferMs=5000'));
  await api.post(`/v1/runs/${runId}/cancel`);
  const batches = await stream.rest();
  assert.deepEqual([...new Set(types(batches))], ['batch']);
  const events = batches.flatMap((batch) => JSON.parse(batch.data));
  assert.deepEqual(events, (await api.get(`/v1/runs/${runId}/events/poll`)).json().events);
  assert.equal(Number(batches.at(-1)!.id), events.at(-1).sequence);
});

test('a batch leaves when its time is over', async (t) => {
  const api = await streamTest(t);
  const runId = await api.start('pausing');
  const stream = await open(api.url(runId, 'bufferMs=20'));
  const batch = await stream.next();
  assert.equal(batch?.event, 'batch');
  assert.equal(JSON.parse(batch!.data)[0].type, 'run.started');
  stream.response.destroy();
});

test('bad streams are refused before any is opened, whatever the reader accepts', async (t) => {
  const api = await streamTest(t);
  const runId = await api.start('pausing');
  const refused = async (query: string, headers: Record<string, string> = {}) => {
    const { response } = await open(api.url(runId, query), headers);
    let body = '';
    for await (const chunk of response) body += chunk;
    return [response.statusCode, JSON.parse(body).error];
  };
  for (const accept of ['text/event-stream', 'application/json']) {
    assert.deepEqual(await refused('streamMode=odd', { accept }), [400, 'unsupported_stream_mode']);
    assert.deepEqual(await refused('streamMode=values,debug', { accept }), [400, 'unsupported_stream_mode']);
    assert.deepEqual(await refused('bufferMs=5001', { accept }), [400, 'validation_error']);
    assert.deepEqual(await refused('', { accept, 'last-event-id': 'odd' }), [400, 'validation_error']);
  }
});

test('many readers of one run all hear everything', async (t) => {
  const api = await streamTest(t);
  const runId = await api.start('pausing');
  const readers = await Promise.all(
    Array.from({ length: 50 }, () => open(api.url(runId, 'streamMode=debug'))),
  );
  await api.post(`/v1/runs/${runId}/cancel`);
  const [first, ...others] = await Promise.all(readers.map((reader) => reader.rest()));
  for (const other of others) assert.deepEqual(other, first);
  assert.equal(first!.at(-1)?.event, 'run.cancelled');
});

test('closing the host ends its streams', async (t) => {
  const api = await streamTest(t);
  const runId = await api.start('pausing');
  const stream = await open(api.url(runId));
  assert.equal((await stream.next())?.event, 'run.started');
  await api.host.app.close();
  assert.deepEqual(await stream.rest(), []);
});

test('past its limit the host opens no stream and says when to come back', async (t) => {
  const folder = await temporaryFolder();
  const store = await openSqlite({ dataDir: folder.path });
  t.after(folder.remove);
  const api = await apiTest(t, { store, workflows: [pausing] });
  const limits = {
    maxNodeExecutions: 1,
    maxRunDurationMs: 1_000,
    maxLoopIterations: 100,
    maxRequestBodyBytes: 1_000,
    sseSubscribersMax: 1,
  };
  const app = await createApi({
    runtime: api.host.services.runtime,
    services: api.host.services,
    features: new Features([]),
    console: createConsole(),
    seams: false,
    registry: undefined,
    workflows: createWorkflows({ store, packs: noPacks, now: Date.now, cacheMs: 0 }),
    store,
    masterKey: await openMasterKey({
      settings: { masterKey: undefined, dataDir: api.dataDir },
      store,
      now: Date.now,
    }),
    redactions: createRedactions(),
    info: {
      name: 'gantry',
      version: '1',
      fixtures: [],
      budgetEnforce: 'hard',
      retentionSeconds: 604_800,
      limits,
    },
    now: Date.now,
    randomBytes,
    log: pino({ level: 'silent' }),
    health: { problem: async () => null, clockSkewMs: 0 },
    originOf: () => 'http://127.0.0.1',
    isReady: () => true,
  });
  t.after(() => app.close());
  const address = await app.listen({ port: 0 });
  const runId = await api.start('pausing');
  const url = `${address}/v1/runs/${runId}/events`;
  const first = await open(url);
  assert.equal((await first.next())?.event, 'run.started');
  const second = await open(url);
  assert.equal(second.response.statusCode, 429);
  assert.match(String(second.response.headers['retry-after']), /^\d+$/);
  second.response.destroy();
  first.response.destroy();
  await once(first.response, 'close');
});
