import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError } from '../testing/api-test.ts';
import { seamTest } from './testing/seam-test.ts';

test('of executors that reach the same effect at once, one performs it', async (t) => {
  const api = await seamTest(t);
  for (const executors of [2, 5]) {
    const raced = await api.drive('test/idempotency/concurrent-claim', { executors });
    assert.deepEqual([raced.attempted, raced.delivered], [executors, 1]);
    assert.deepEqual([...new Set(raced.mintedIds)], [raced.logicalInvocationId]);
  }
  const url = '/v1/host/sample/test/idempotency/concurrent-claim';
  assertError(await api.post(url, { executors: 1 }), 400, 'validation_error');
});
