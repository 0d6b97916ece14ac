import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onePerFile } from '../testing/one-per-file.ts';
import { apiTest, assertError } from './testing/api-test.ts';

const keyed = (key: string) => ({ 'idempotency-key': key });
const REPLAY = 'openwop-idempotent-replay';

const openApi = onePerFile(apiTest);

test('a repeated create answers the first run again, and only the repeat says so', async (t) => {
  const api = await apiTest(t);
  const first = await api.post('/v1/runs', { workflowId: 'three', inputs: { a: 1, b: 2 } }, keyed('k'));
  const again = await api.post('/v1/runs', { inputs: { b: 2, a: 1 }, workflowId: 'three' }, keyed('k'));
  assert.equal(first.statusCode, 201);
  assert.equal(first.headers[REPLAY], undefined);
  assert.equal(again.statusCode, 201);
  assert.equal(again.headers[REPLAY], 'true');
  assert.equal(again.body, first.body);
  assert.equal((await api.get('/v1/host/gantry/runs')).json().runs.length, 1);
});

test('the same key for another request is refused without the first answer', async () => {
  const api = await openApi();
  const first = await api.post('/v1/runs', { workflowId: 'three' }, keyed('k'));
  const other = await api.post('/v1/runs', { workflowId: 'slow' }, keyed('k'));
  assertError(other, 409, 'idempotency_key_mismatch');
  assert.ok(!other.body.includes(first.json().runId));
});

test('many requests with one key at once make one run', async (t) => {
  const api = await apiTest(t);
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => api.post('/v1/runs', { workflowId: 'three' }, keyed('k'))),
  );
  assert.equal(new Set(answers.map((answer) => answer.body)).size, 1);
  assert.equal(answers.filter((answer) => answer.headers[REPLAY] === undefined).length, 1);
  assert.equal((await api.get('/v1/host/gantry/runs')).json().runs.length, 1);
});

test('a refusal that could change is not kept; one that cannot is', async () => {
  const api = await openApi();
  assertError(await api.post('/v1/runs', { workflowId: 7 }, keyed('a')), 400, 'validation_error');
  assert.equal((await api.post('/v1/runs', { workflowId: 'three' }, keyed('a'))).statusCode, 201);
  const absent = () => api.post('/v1/runs', { workflowId: 'absent' }, keyed('b'));
  assertError(await absent(), 404, 'not_found');
  const again = await absent();
  assertError(again, 404, 'not_found');
  assert.equal(again.headers[REPLAY], 'true');
});

test('a key is forgotten after a day', async (t) => {
  let at = Date.parse('2030-01-01T00:00:00Z');
  const api = await apiTest(t, { now: () => at });
  const first = await api.post('/v1/runs', { workflowId: 'three' }, keyed('k'));
  at += 86_399_000;
  const kept = await api.post('/v1/runs', { workflowId: 'three' }, keyed('k'));
  assert.equal(kept.body, first.body);
  at += 2_000;
  const forgotten = await api.post('/v1/runs', { workflowId: 'three' }, keyed('k'));
  assert.equal(forgotten.statusCode, 201);
  assert.notEqual(forgotten.json().runId, first.json().runId);
});

test('keys are bounded, per operation, and ignored by reads', async () => {
  const api = await openApi();
  const create = (key: string) => api.post('/v1/runs', { workflowId: 'slow' }, keyed(key));
  assertError(await create('x'.repeat(256)), 400, 'validation_error', { maxLength: 255 });
  const { runId } = (await create('x'.repeat(255))).json();
  const other = (await create('y')).json().runId;
  for (const id of [runId, other]) {
    const cancelled = await api.post(`/v1/runs/${id}/cancel`, {}, keyed('c'));
    assert.equal(cancelled.json().runId, id);
  }
  assert.equal((await api.get(`/v1/runs/${runId}`, keyed('x'.repeat(999)))).statusCode, 200);
});

test('both spellings of cancel are one operation', async () => {
  const api = await openApi();
  const runId = await api.start('slow');
  const first = await api.post(`/v1/runs/${runId}/cancel`, {}, keyed('c'));
  const again = await api.post(`/v1/runs/${runId}:cancel`, undefined, keyed('c'));
  assert.equal(again.body, first.body);
  assert.equal(again.headers[REPLAY], 'true');
});

test('a repeated pause replays its 202 though the run is paused by now', async () => {
  const api = await openApi();
  const runId = await api.start('slow');
  const pause = (key: string) =>
    api.post(`/v1/runs/${runId}:pause`, { drainPolicy: 'immediate' }, keyed(key));
  const first = await pause('p');
  assert.equal(first.statusCode, 202, first.body);
  const again = await pause('p');
  assert.equal(again.statusCode, 202);
  assert.equal(again.body, first.body);
  assertError(await pause('q'), 409, 'conflict', { runStatus: 'paused' });
});

test('registration and bulk cancel replay too', async () => {
  const api = await openApi();
  const runId = await api.start('slow');
  const bulk = () => api.post('/v1/runs:bulk-cancel', { runIds: [runId, 'absent'] }, keyed('b'));
  const first = await bulk();
  assert.equal(first.statusCode, 200);
  const again = await bulk();
  assert.equal(again.body, first.body);
  assert.equal(again.headers[REPLAY], 'true');
});
