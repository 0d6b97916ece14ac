import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import type { JsonObject, RunEventDoc } from '@gantry/protocol';
import { node, workflow } from '../testing/definitions.ts';
import { onePerFile } from '../testing/one-per-file.ts';
import { type ApiTest, apiTest, assertError, secretive, slow, three } from './testing/api-test.ts';

const acting = workflow('acting', [
  node('first', 'core.noop'),
  node('act', 'core.conformance.side-effect', { effects: 2 }),
  node('last', 'core.noop'),
]);
const workflows = [three, slow, secretive, acting];

const forkOf = (api: ApiTest, runId: string, body: JsonObject, headers: Record<string, string> = {}) =>
  api.post(`/v1/runs/${runId}:fork`, body, headers);

async function forked(api: ApiTest, runId: string, body: JsonObject): Promise<string> {
  const response = await forkOf(api, runId, body);
  assert.equal(response.statusCode, 201, response.body);
  return response.json().runId;
}

async function logOf(api: ApiTest, runId: string): Promise<RunEventDoc[]> {
  return (await api.get(`/v1/runs/${runId}/events/poll?timeout=1`)).json().events;
}

const told = (events: RunEventDoc[]) =>
  events.map(({ type, nodeId, payload, timestamp }) => ({ type, nodeId, payload, timestamp }));

async function effects(api: ApiTest): Promise<number> {
  return (await readFile(path.join(api.dataDir, 'side-effects.log'), 'utf8')).trim().split('\n').length;
}

const openApi = onePerFile((t) => apiTest(t, { workflows }));

test('a replay lives the run again, without its effects', async (t) => {
  const api = await apiTest(t, { workflows });
  const source = await api.start('acting', { tags: ['a'], metadata: { b: 1 } });
  const original = await api.ended(source);
  const response = await forkOf(api, source, { mode: 'replay' });
  const { runId, ...answer } = response.json();
  assert.equal(response.statusCode, 201);
  assert.deepEqual(answer, {
    sourceRunId: source,
    fromSeq: 0,
    mode: 'replay',
    status: 'completed',
    eventsUrl: `/v1/runs/${runId}/events`,
  });
  assert.deepEqual(told(await logOf(api, runId)), told(await logOf(api, source)));
  const replayed = await api.ended(runId);
  for (const field of ['status', 'variables', 'outputs', 'nodeStates', 'owner', 'tags', 'metadata'])
    assert.deepEqual(replayed[field], original[field], field);
  assert.equal(replayed.sourceRunId, source);
  assert.equal(await effects(api), 2);
});

test('every event id of a fork is its own', async () => {
  const api = await openApi();
  const source = await api.start('acting');
  await api.ended(source);
  const runId = await forked(api, source, { mode: 'replay', fromSeq: 3 });
  for (const event of await logOf(api, runId))
    assert.deepEqual([event.runId, event.eventId], [runId, `${runId}.${event.sequence}`]);
});

test('a branch keeps what came before and lets the rest happen, effects and all', async (t) => {
  const api = await apiTest(t, { workflows });
  const source = await api.start('acting');
  await api.ended(source);
  const log = await logOf(api, source);
  const fromSeq = log.findIndex(({ type, nodeId }) => type === 'node.started' && nodeId === 'act');
  const runId = await forked(api, source, { mode: 'branch', fromSeq });
  assert.equal((await api.ended(runId)).status, 'completed');
  const branch = await logOf(api, runId);
  assert.deepEqual(told(branch.slice(0, fromSeq)), told(log.slice(0, fromSeq)));
  assert.deepEqual(
    branch.map(({ type }) => type),
    log.map(({ type }) => type),
  );
  assert.equal(await effects(api), 4);
});

test('a branch may start anywhere, also between events that are written together', async () => {
  const api = await openApi();
  const source = await api.start('three');
  await api.ended(source);
  const { length } = await logOf(api, source);
  for (let fromSeq = 0; fromSeq <= length; fromSeq++) {
    const runId = await forked(api, source, { mode: 'branch', fromSeq });
    assert.equal((await api.ended(runId)).status, 'completed', `from ${fromSeq}`);
    assert.equal((await logOf(api, runId)).length, length);
  }
});

test('a branch changes options, and only those that are named', async () => {
  const api = await openApi();
  const source = await api.start('three', { tags: ['old'], metadata: { a: 1, b: 1 } });
  await api.ended(source);
  const runOptionsOverlay = { configurable: { recursionLimit: 1 }, metadata: { b: 2 } };
  const runId = await forked(api, source, { mode: 'branch', fromSeq: 0, runOptionsOverlay });
  const run = await api.ended(runId);
  assert.deepEqual(
    [run.status, run.tags, run.metadata, run.configurable],
    ['failed', ['old'], { a: 1, b: 2 }, { recursionLimit: 1 }],
  );
  const bad = { mode: 'branch', fromSeq: 0, runOptionsOverlay: { configurable: { recursionLimit: 0 } } };
  assertError(await forkOf(api, source, bad), 400, 'validation_error');
});

test('forks of a run that waits wait too', async () => {
  const api = await openApi();
  const source = await api.start('slow');
  const log = await logOf(api, source);
  for (const body of [{ mode: 'replay' }, { mode: 'branch', fromSeq: log.length }]) {
    const runId = await forked(api, source, body);
    assert.deepEqual(told(await logOf(api, runId)), told(log));
    const { status, nodeStates } = (await api.get(`/v1/runs/${runId}`)).json();
    assert.deepEqual([status, nodeStates.wait.status], ['running', 'running']);
    assert.equal((await api.post(`/v1/runs/${runId}:cancel`)).statusCode, 200);
  }
  assert.equal((await api.get(`/v1/runs/${source}`)).json().status, 'running');
});

test('a fork that cannot be is refused', async () => {
  const api = await openApi();
  const source = await api.start('three');
  await api.ended(source);
  const { length } = await logOf(api, source);
  const refusals: [JsonObject, number, string][] = [
    [{ mode: 'replay', fromSeq: -1 }, 400, 'validation_error'],
    [{ mode: 'branch' }, 400, 'validation_error'],
    [{ mode: 'rerun' }, 400, 'validation_error'],
    [{ mode: 'replay', more: 1 }, 400, 'validation_error'],
    [{ mode: 'replay', runOptionsOverlay: { tags: ['a'] } }, 400, 'validation_error'],
    [{ mode: 'branch', fromSeq: 0, runOptionsOverlay: { inputs: {} } }, 400, 'validation_error'],
    [{ mode: 'replay', fromSeq: length + 1 }, 422, 'fork_point_invalid'],
  ];
  for (const [body, status, code] of refusals) assertError(await forkOf(api, source, body), status, code);
  const past = await forkOf(api, source, { mode: 'branch', fromSeq: 99_999 });
  assertError(past, 422, 'fork_point_invalid', { sourceRunId: source, fromSeq: 99_999, maxFromSeq: length });
  assertError(await forkOf(api, 'run_none', { mode: 'replay' }), 404, 'not_found');
  assert.equal((await forkOf(api, source, { mode: 'replay', runOptionsOverlay: {} })).statusCode, 201);
});

test('a repeated fork answers the first one again', async (t) => {
  const api = await apiTest(t, { workflows });
  const source = await api.start('three');
  await api.ended(source);
  const keyed = { 'idempotency-key': 'k' };
  const [first, again] = [
    await forkOf(api, source, { mode: 'replay' }, keyed),
    await forkOf(api, source, { mode: 'replay' }, keyed),
  ];
  assert.equal(again.body, first.body);
  assert.equal(again.headers['openwop-idempotent-replay'], 'true');
  assert.equal((await api.get('/v1/host/gantry/runs')).json().runs.length, 2);
});

test('a secret stays masked in a fork, and is still there for its nodes', async () => {
  const api = await openApi();
  const source = await api.start('secretive', { inputs: { token: 'hush', count: 1 } });
  await api.ended(source);
  for (const body of [{ mode: 'replay' }, { mode: 'branch', fromSeq: 2 }]) {
    const runId = await forked(api, source, body);
    const run = await api.ended(runId);
    assert.deepEqual(run.variables, { token: '[REDACTED]', count: 1 });
    assert.ok(!JSON.stringify(await logOf(api, runId)).includes('hush'));
  }
});
