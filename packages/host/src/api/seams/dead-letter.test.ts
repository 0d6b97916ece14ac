import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertPublic } from '../testing/api-test.ts';
import { seamTest } from './testing/seam-test.ts';

test('retries that are used up end in a dead letter', async (t) => {
  const api = await seamTest(t);
  const { event, forkEligible } = await api.drive('deadletter/exhaust', { scenario: 'exhaust-retries' });
  assertPublic('run-event.schema.json', event);
  assert.equal(event.type, 'run.dead_lettered');
  assert.equal(event.payload.attempts, 3);
  assert.equal(forkEligible, undefined);
  const run = (await api.get(`/v1/runs/${event.payload.runId}`)).json();
  assert.equal(run.status, 'failed');
});

test('a run that is a dead letter can be forked', async (t) => {
  const api = await seamTest(t);
  const scenario = { scenario: 'fork-after-dead-letter' };
  const { event, forkEligible } = await api.drive('deadletter/exhaust', scenario);
  assert.equal(forkEligible, true);
  const { runs } = (await api.get('/v1/host/gantry/runs')).json();
  const forked = runs.find(({ runId }: { runId: string }) => runId !== event.runId);
  assert.equal((await api.ended(forked.runId)).sourceRunId, event.runId);
});
