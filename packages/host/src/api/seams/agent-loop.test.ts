import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError } from '../testing/api-test.ts';
import { seamTest } from './testing/seam-test.ts';

const iterations = ({ decisions }: { decisions: { iteration: number }[] }): number[] =>
  decisions.map(({ iteration }) => iteration);

test('each turn is a decision with a number', async (t) => {
  const api = await seamTest(t);
  const answer = await api.drive('agentloop/run', { turns: 8 });
  assert.deepEqual(iterations(answer), [1, 2, 3, 4, 5, 6, 7, 8]);
  assert.equal(answer.decisions.at(-1).decision.kind, 'terminate');
  assert.equal((await api.get(`/v1/runs/${answer.runId}`)).json().status, 'completed');
});

test('an interrupted turn goes on under its number', async (t) => {
  const api = await seamTest(t);
  const resumed = await api.drive('agentloop/run', { turns: 4, suspendAtTurn: 2, resume: true });
  assert.deepEqual([iterations(resumed), resumed.resumedIteration], [[1, 2, 3, 4], 2]);
  const last = await api.drive('agentloop/run', { turns: 2, suspendAtTurn: 2, resume: true });
  assert.deepEqual([iterations(last), last.resumedIteration], [[1, 2], 2]);
  const left = await api.drive('agentloop/run', { turns: 4, suspendAtTurn: 2 });
  assert.deepEqual([iterations(left), left.resumedIteration], [[1, 2], undefined]);
  assert.equal((await api.get(`/v1/runs/${left.runId}`)).json().status, 'cancelled');
});

test('there is no workspace to write to', async (t) => {
  const api = await seamTest(t);
  const body = { turns: 2, workspaceWriteAtTurn: 1 };
  const refused = await api.post('/v1/host/sample/agentloop/run', body);
  assertError(refused, 501, 'capability_not_provided', { capability: 'workspace' });
});
