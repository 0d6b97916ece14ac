/** A clock that jumps: what is due by it fires, and what is new comes first. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiTest, slow, three } from './api/testing/api-test.ts';
import { node, workflow } from './testing/definitions.ts';

const HOUR_MS = 3_600_000;
const soon = workflow('soon', [node('wait', 'core.delay', { delayMs: 300 })]);

test('after a jump forward timers fire, old and new; after one back the newest run is still first', async (t) => {
  let jumpedMs = 0;
  const api = await apiTest(t, { workflows: [three, slow, soon], now: () => Date.now() + jumpedMs });
  const waiting = await api.start('slow');
  jumpedMs = 2 * HOUR_MS;
  const fresh = await api.start('soon');
  assert.equal((await api.ended(fresh)).status, 'completed');
  assert.equal((await api.ended(waiting)).status, 'completed');
  jumpedMs = -HOUR_MS;
  const newest = await api.start('three');
  const { runs } = (await api.get('/v1/host/gantry/runs')).json();
  assert.equal(runs[0].runId, newest);
});
