import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError } from '../testing/api-test.ts';
import { seamTest } from './testing/seam-test.ts';

const parallel = (mode: string, onChildFailure = 'collect') => ({
  fanOutPolicy: 'parallel',
  joinPolicy: { mode, onChildFailure },
});

interface Child {
  readonly workerId: string;
  readonly childRunId: string;
  readonly status: string;
}

test('workers are real children, joined in the order of their ends', async (t) => {
  const api = await seamTest(t);
  const nextWorkerIds = ['conformance.child.a', 'conformance.child.b', 'three'];
  const answer = await api.drive('dispatch/fanout', { nextWorkerIds, config: parallel('wait-all') });
  assert.equal(answer.joinOutcome, 'satisfied');
  assert.deepEqual(
    answer.children.map(({ workerId, status }: Child) => [workerId, status]),
    nextWorkerIds.map((workerId) => [workerId, 'completed']),
  );
  const ids: string[] = answer.children.map(({ childRunId }: Child) => childRunId);
  assert.deepEqual([...answer.mergeOrder].sort(), [...ids].sort());
  for (const id of ids) assert.equal((await api.get(`/v1/runs/${id}`)).json().parentRunId, answer.runId);
});

test('a worker that is nowhere fails, and the join with it', async (t) => {
  const api = await seamTest(t);
  const nextWorkerIds = ['conformance.child.a', 'nowhere'];
  const body = { nextWorkerIds, config: parallel('wait-all', 'fail-fast') };
  const { joinOutcome, children } = await api.drive('dispatch/fanout', body);
  assert.equal(joinOutcome, 'failed');
  assert.equal(children[1].status, 'failed');
});

test('a config that no dispatch takes is refused', async (t) => {
  const api = await seamTest(t);
  const body = { nextWorkerIds: ['three'], config: parallel('any') };
  assertError(await api.post('/v1/host/sample/dispatch/fanout', body), 400, 'validation_error');
});
