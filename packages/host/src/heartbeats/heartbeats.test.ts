/** Heartbeats through the front door, on the real runtime and store. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import type { WorkflowDefinition } from '@gantry/protocol';
import { Changes } from '@gantry/resources';
import { CommitPipeline, openSqlite } from '@gantry/store';
import { pino } from 'pino';
import { apiTest, assertError, assertPublic, three } from '../api/testing/api-test.ts';
import { node, variable, workflow } from '../testing/definitions.ts';
import { TEST_KEY, temporaryFolder } from '../testing/host-process.ts';
import { LOCAL_RECEIVERS, receiver } from '../webhooks/testing/receiver.ts';
import { createHeartbeats } from './heartbeats.ts';

const URL = '/v1/host/gantry/heartbeats';
const START = Date.parse('2027-01-01T00:00:00Z');
const MINUTE = 60_000;

/** Sees what the definition says it sees: a new version of it is a change of the world. */
const inbox = (unread: number, more: Partial<WorkflowDefinition> = {}): WorkflowDefinition =>
  workflow(
    'inbox',
    [
      node(
        'look',
        'core.identity',
        {},
        {
          inputs: {
            state: { type: 'static', value: { unread } },
            // Only an odd number is worth a run
            enqueue: { type: 'static', value: unread % 2 === 1 },
          },
        },
      ),
    ],
    { version: `1.0.${unread}`, ...more },
  );
/** Says what it was told of the tick before. */
const echo = workflow(
  'echo',
  [node('look', 'core.identity', {}, { inputs: { state: variable('priorState') } })],
  { variables: [{ name: 'priorState', type: 'object', defaultValue: { told: 'nothing' } }] },
);
const sluggish = workflow(
  'sluggish',
  [
    node('wait', 'core.delay', {}, { inputs: { delayMs: variable('slowMs') } }),
    node('look', 'core.identity', {}, { inputs: { state: variable('observed') } }),
  ],
  {
    variables: [
      { name: 'slowMs', type: 'number', defaultValue: 3_600_000 },
      { name: 'observed', type: 'object', defaultValue: { door: 'open' } },
    ],
  },
);

async function setUp(t: TestContext, now?: () => number) {
  const clock = { at: START };
  const folder = await temporaryFolder();
  const store = await openSqlite({ dataDir: folder.path });
  t.after(folder.remove);
  const workflows = [inbox(3), echo, sluggish, three];
  const settings = { egressAllow: LOCAL_RECEIVERS };
  const api = await apiTest(t, { workflows, store, settings, now: now ?? (() => clock.at) });
  const register = async (definition: WorkflowDefinition) => {
    const response = await api.post('/v1/host/gantry/workflows', definition);
    assert.equal(response.statusCode, 201, response.body);
  };
  const create = async (body: object) => {
    const response = await api.post(URL, { intervalSec: 60, ...body });
    assert.equal(response.statusCode, 201, response.body);
    return response.json();
  };
  const ticks = async (id: string) => (await api.get(`${URL}/${id}/ticks`)).json().ticks;
  const runsOf = async (workflowId: string) =>
    (await api.get(`/v1/host/gantry/runs?workflowId=${workflowId}`)).json().runs;
  /** One tick of the clock, until what it began is settled. */
  const passTo = async (id: string, at: number) => {
    clock.at = at;
    await api.host.services.heartbeats.tick();
    for (;;) {
      const { evaluatingRunId } = (await api.get(`${URL}/${id}`)).json();
      if (evaluatingRunId === undefined) return;
      await api.ended(evaluatingRunId);
    }
  };
  return { ...api, store, clock, create, register, ticks, runsOf, passTo };
}

test('each tick is evaluated, and only a change starts a run', async (t) => {
  const { get, create, register, ticks, runsOf, passTo } = await setUp(t);
  const { heartbeatId: id } = await create({ workflowId: 'inbox', enqueue: { workflowId: 'three' } });
  await passTo(id, START + MINUTE - 1);
  assert.deepEqual(await ticks(id), []);
  for (const minute of [1, 2, 3]) await passTo(id, START + minute * MINUTE);
  assert.equal((await runsOf('inbox')).length, 3);
  assert.equal((await runsOf('three')).length, 1);
  await register(inbox(4));
  await passTo(id, START + 4 * MINUTE);
  assert.equal((await runsOf('three')).length, 1, 'the predicate did not ask');
  await register(inbox(5));
  await passTo(id, START + 5 * MINUTE);
  const seen = await ticks(id);
  assert.deepEqual(
    seen.map(({ evaluated }: { evaluated: { changed: boolean } }) => evaluated.changed),
    [true, true, false, false, true],
  );
  assert.deepEqual(seen[1].stateChanged, { heartbeatId: id, from: { unread: 3 }, to: { unread: 4 } });
  assert.deepEqual(seen[4].stateChanged.from, {});
  for (const { evaluated, stateChanged } of seen) {
    assertPublic('heartbeat-evaluated.schema.json', evaluated);
    if (stateChanged) assertPublic('heartbeat-state-changed.schema.json', stateChanged);
  }
  const enqueued = (await runsOf('three')).map(({ runId }: { runId: string }) => runId);
  assert.deepEqual(enqueued, [seen[0].enqueuedRunId, seen[4].enqueuedRunId]);
  assert.deepEqual((await get(`${URL}/${id}`)).json().state, { unread: 5 });
});

/** The first events of a stream, without their times. */
async function streamed(url: string, count: number, headers: Record<string, string> = {}) {
  const response = await fetch(url, { headers: { authorization: `Bearer ${TEST_KEY}`, ...headers } });
  assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  let text = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.split('\n\n').length > count) break;
  }
  const frames = text.split('\n\n').slice(0, count);
  return frames.map((frame) => {
    const { id, event, data } = /^id: (?<id>.*)\nevent: (?<event>.*)\ndata: (?<data>.*)$/.exec(frame)!
      .groups!;
    const doc = JSON.parse(data!);
    assert.deepEqual([String(doc.sequence), doc.type], [id, event]);
    return doc;
  });
}

test('evaluations and changes reach streams and the webhooks that name them', async (t) => {
  const { host, post, get, request, create, register, passTo } = await setUp(t);
  const [all, changes] = [await receiver(t), await receiver(t)];
  await post('/v1/webhooks', { url: all.url, events: ['*'] });
  const wanted = { url: changes.url, events: ['heartbeat.*'], durable: true };
  const registered = await post('/v1/webhooks', wanted);
  assert.equal(registered.headers['gantry-warning'], undefined);
  const { heartbeatId: id } = await create({ workflowId: 'inbox' });
  const url = `${await host.app.listen({ port: 0 })}${URL}/${id}/events`;
  await passTo(id, START + MINUTE);
  const live = streamed(url, 5);
  await passTo(id, START + 2 * MINUTE);
  await register(inbox(4));
  await passTo(id, START + 3 * MINUTE);
  const seen = await live;
  const ok = (changed: boolean) => ({ heartbeatId: id, status: 'ok', changed });
  const change = (from: object, to: object) => ({ heartbeatId: id, from, to });
  assert.deepEqual(
    seen.map(({ sequence, type, payload }) => [sequence, type, payload]),
    [
      [0, 'heartbeat.evaluated', ok(true)],
      [1, 'heartbeat.stateChanged', change({}, { unread: 3 })],
      [2, 'heartbeat.evaluated', ok(false)],
      [4, 'heartbeat.evaluated', ok(true)],
      [5, 'heartbeat.stateChanged', change({ unread: 3 }, { unread: 4 })],
    ],
  );
  assert.deepEqual(await streamed(url, 1, { 'last-event-id': '4' }), seen.slice(4), 'goes on where it ended');
  const told = (await changes.got(5)).map(({ body }) => JSON.parse(body));
  assert.deepEqual(
    told,
    seen.map((event) => ({ heartbeatId: id, workspaceId: 'default', type: event.type, event })),
  );
  const { deliveries } = (
    await get(`/v1/host/gantry/webhooks/${registered.json().webhookId}/deliveries`)
  ).json();
  assert.deepEqual([deliveries[0].heartbeatId, deliveries[0].runId], [id, undefined]);
  const followed = await fetch(url, {
    headers: { authorization: `Bearer ${TEST_KEY}`, 'last-event-id': '5' },
  });
  await request({ method: 'DELETE', url: `${URL}/${id}` });
  assert.equal(await followed.text(), '', 'a stream ends with its heartbeat');
  await all.got(1);
  assert.ok(
    all.received.every(({ body }) => JSON.parse(body).runId),
    '* is every event of runs',
  );
});

test('the predicate is told what was seen before', async (t) => {
  const { create, ticks, passTo } = await setUp(t);
  const { heartbeatId: id } = await create({ workflowId: 'echo' });
  await passTo(id, START + MINUTE);
  await passTo(id, START + 2 * MINUTE);
  const [second, first] = await ticks(id);
  assert.deepEqual(first.stateChanged.to, {});
  assert.equal(second.evaluated.changed, false);
});

test('an evaluation out of time is ended and reported', async (t) => {
  let stoppedAt: number | undefined;
  const { host, get, create, runsOf } = await setUp(t, () => stoppedAt ?? Date.now());
  const { heartbeatId: id } = await create({ workflowId: 'sluggish', maxRuntimeMs: 50 });
  const key = { tenant: 'default', id };
  const slow = await host.services.heartbeats.evaluate(key);
  assert.deepEqual(slow?.evaluated, { heartbeatId: id, status: 'timeout', changed: false });
  const [run] = await runsOf('sluggish');
  // By its own limit, or by the clock of the heartbeats, which are due together
  assert.ok(['cancelled', 'failed'].includes(run.status), run.status);
  // However slow the machine is, this one is in time
  stoppedAt = Date.now();
  const quick = await host.services.heartbeats.evaluate(key, { slowMs: 0, observed: { door: 'shut' } });
  assert.deepEqual(quick?.stateChanged?.to, { door: 'shut' });
  assert.deepEqual((await get(`${URL}/${id}`)).json().state, { door: 'shut' });
});

test('while one evaluation is under way there is no other, and the clock ends it after a crash', async (t) => {
  const { host, store, clock, get, create, ticks, runsOf } = await setUp(t);
  const { heartbeatId: id } = await create({ workflowId: 'sluggish', maxRuntimeMs: 30_000 });
  clock.at = START + MINUTE;
  await Promise.all([host.services.heartbeats.tick(), host.services.heartbeats.tick()]);
  assert.equal(await host.services.heartbeats.evaluate({ tenant: 'default', id }), null);
  assert.equal((await runsOf('sluggish')).length, 1);
  await host.services.heartbeats.stop();
  // Far past the deadline, as after a restart: nobody follows the run any more.
  clock.at = START + 10 * MINUTE + 1;
  const later = createHeartbeats({
    store,
    runtime: host.services.runtime,
    workflows: { resolve: async () => null, checkActing: async () => {} },
    outbox: { writesOf: () => [], committed() {} },
    now: () => clock.at,
    changes: new Changes({ store, pipeline: new CommitPipeline(store), now: () => clock.at, randomBytes }),
    log: pino({ level: 'silent' }),
  });
  t.after(later.stop);
  await later.tick();
  const [tick] = await ticks(id);
  assert.equal(tick.evaluated.status, 'timeout');
  assert.equal((await get(`${URL}/${id}`)).json().nextTickAt, new Date(START + 11 * MINUTE).toISOString());
  const [run] = await runsOf('sluggish');
  assert.ok(['cancelled', 'failed'].includes(run.status), run.status);
});

test('what cannot run is refused, or reported when it comes later', async (t) => {
  const { post, create, ticks, register, passTo } = await setUp(t);
  const refuse = async (body: object, status: number, code: string) =>
    assertError(await post(URL, { intervalSec: 60, ...body }), status, code);
  await refuse({ workflowId: 'nowhere' }, 404, 'not_found');
  await refuse({ workflowId: 'inbox', enqueue: { workflowId: 'nowhere' } }, 404, 'not_found');
  await refuse({ workflowId: 'inbox', maxRuntimeMs: 10_000_000 }, 400, 'validation_error');
  const made = await create({ workflowId: 'inbox', intervalSec: 1 });
  assert.equal(made.intervalSec, 60, 'raised to the minimum');
  await register(inbox(5, { variables: [{ name: 'box', type: 'string', required: true }] }));
  await passTo(made.heartbeatId, START + MINUTE);
  const [tick] = await ticks(made.heartbeatId);
  assert.deepEqual([tick.evaluated.status, tick.error.code], ['error', 'validation_error']);
});

test('heartbeats are listed and deleted within their tenant', async (t) => {
  const { get, post, request, create } = await setUp(t);
  const { heartbeatId } = await create({ workflowId: 'inbox' });
  const wanted = { name: 'other', tenant: 'other', scopes: ['runs:read', 'runs:create'] };
  const { key } = (await post('/v1/host/gantry/keys', wanted)).json();
  const headers = { authorization: `Bearer ${key}` };
  const url = `${URL}/${heartbeatId}`;
  assert.deepEqual((await get(URL, headers)).json().heartbeats, []);
  assertError(await get(url, headers), 404, 'not_found');
  assertError(await request({ method: 'DELETE', url, headers }), 404, 'not_found');
  assert.equal((await get(URL)).json().heartbeats.length, 1);
  assert.equal((await request({ method: 'DELETE', url })).statusCode, 200);
  assertError(await get(url), 404, 'not_found');
});
