import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seamTest } from './testing.ts';

test('an event becomes a run that names its delivery', async (t) => {
  const api = await seamTest(t);
  const answer = await api.drive('trigger-bridge/deliver', { scenario: 'deliver', source: 'webhook' });
  assert.deepEqual([answer.outcome, answer.deliveredCount], ['delivered', 1]);
  const url = `/v1/host/sample/test/runs/${answer.runId}/events?type=run.started`;
  const { events } = (await api.get(url)).json();
  assert.match(events[0].causationId, /^dlv_/);
});

test('an event that comes twice is delivered once', async (t) => {
  const api = await seamTest(t);
  const body = { scenario: 'dedup', dedupKey: 'conformance-dedup-key', source: 'queue' };
  const answer = await api.drive('trigger-bridge/deliver', body);
  assert.equal(answer.deliveredCount, 1);
  const again = await api.drive('trigger-bridge/deliver', body);
  assert.deepEqual([again.deliveredCount, again.runId === answer.runId], [1, false]);
  assert.equal((await api.get('/v1/host/gantry/runs')).json().runs.length, 2);
});

test('an event that finds no room is given up after its attempts', async (t) => {
  const api = await seamTest(t);
  const answer = await api.drive('trigger-bridge/deliver', { scenario: 'exhaust', source: 'webhook' });
  assert.deepEqual([answer.outcome, answer.deliveredCount, answer.runId], ['dead-lettered', 0, undefined]);
  assert.deepEqual((await api.get('/v1/host/gantry/runs')).json().runs, []);
  const { deadLetters } = (await api.get('/v1/host/gantry/dead-letters')).json();
  assert.deepEqual([deadLetters[0].reason, deadLetters[0].attempts], ['retry-exhausted', 2]);
  assert.deepEqual((await api.get('/v1/trigger-subscriptions')).json(), { subscriptions: [] });
});
