import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HEARTBEAT_LIMITS, type JsonObject, type RunSnapshot } from '@gantry/protocol';
import { assertPublic } from '../api/testing/api-test.ts';
import { nextTickAt } from './heartbeat.ts';
import { type Observation, observationOf, transition } from './transition.ts';

const at = { now: Date.parse('2027-01-01T00:00:00Z'), sequence: 4, runId: 'run_1' };
const saw = (state: JsonObject, enqueue = true): Observation => ({ status: 'ok', state, enqueue });

function judge(seen: JsonObject | null, observation: Observation) {
  const outcome = transition('hb_1', seen, observation, at);
  const { evaluated, stateChanged } = outcome.tick;
  assertPublic('heartbeat-evaluated.schema.json', evaluated);
  if (stateChanged) assertPublic('heartbeat-state-changed.schema.json', stateChanged);
  return outcome;
}

test('the first observation is a change from nothing', () => {
  const { tick, seen, enqueue } = judge(null, saw({ unread: 3 }));
  assert.deepEqual(tick.evaluated, { heartbeatId: 'hb_1', status: 'ok', changed: true });
  assert.deepEqual(tick.stateChanged, { heartbeatId: 'hb_1', from: {}, to: { unread: 3 } });
  assert.deepEqual([seen, enqueue], [{ unread: 3 }, true]);
  assert.equal(judge(null, saw({})).tick.evaluated.changed, true);
});

test('the same state, in whatever order, is no change', () => {
  const { tick, enqueue } = judge({ a: 1, b: [1, 2] }, saw({ b: [1, 2], a: 1 }));
  assert.deepEqual([tick.evaluated.changed, tick.stateChanged, enqueue], [false, undefined, false]);
});

test('a change acts only when the predicate wants it', () => {
  assert.equal(judge({ a: 1 }, saw({ a: 2 })).enqueue, true);
  assert.equal(judge({ a: 1 }, saw({ a: 2 }, false)).enqueue, false);
});

test('neither a timeout nor an error changes what was seen', () => {
  const error = { code: 'x', message: 'no' };
  for (const observation of [{ status: 'timeout' }, { status: 'error', error }] as const) {
    const { tick, seen, enqueue } = judge({ a: 1 }, observation);
    assert.deepEqual(tick.evaluated, { heartbeatId: 'hb_1', status: observation.status, changed: false });
    assert.deepEqual([tick.stateChanged, seen, enqueue], [undefined, { a: 1 }, false]);
  }
});

test('what a run of the predicate means', () => {
  const run = (more: Partial<RunSnapshot>): RunSnapshot => ({
    runId: 'run_1',
    workflowId: 'w',
    status: 'completed',
    ...more,
  });
  assert.equal(observationOf(run({ status: 'running' })), null);
  assert.deepEqual(observationOf(run({ outputs: { state: { a: 1 }, enqueue: true } })), saw({ a: 1 }));
  for (const silent of [{}, { enqueue: false }, { enqueue: 'yes' }])
    assert.deepEqual(observationOf(run({ outputs: { state: {}, ...silent } })), saw({}, false));
  const status = (more: Partial<RunSnapshot>) => observationOf(run(more))?.status;
  assert.equal(status({ status: 'failed', error: { code: 'run_timeout', message: 'late' } }), 'timeout');
  assert.equal(status({ status: 'failed', error: { code: 'node_failed', message: 'no' } }), 'error');
  assert.equal(status({ status: 'cancelled' }), 'error');
  assert.equal(status({ outputs: { state: [1] } }), 'error');
  assert.equal(status({ outputs: {} }), 'error');
  const big = 'x'.repeat(HEARTBEAT_LIMITS.stateBytesMax);
  assert.equal(status({ outputs: { state: { big } } }), 'error');
});

test('ticks lie on a grid from the registration on', () => {
  assert.equal(nextTickAt(1_000, 60_000, 1_000), 61_000);
  assert.equal(nextTickAt(1_000, 60_000, 60_999), 61_000);
  assert.equal(nextTickAt(1_000, 60_000, 61_000), 121_000);
  assert.equal(nextTickAt(1_000, 60_000, 400_000), 421_000);
});
