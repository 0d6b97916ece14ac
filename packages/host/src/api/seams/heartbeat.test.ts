import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seamTest } from './testing/seam-test.ts';

/** Predicates of seams have a second, which a clock that stands still never ends. */
const STOPPED = { now: () => Date.UTC(2027, 0, 1) };

test('a heartbeat acts on a change, not on a tick', async (t) => {
  const api = await seamTest(t, STOPPED);
  const tick = (observedState: object) =>
    api.drive('heartbeat/tick', { heartbeatId: 'conformance-hb', observedState });
  const first = await tick({ unread: 0 });
  assert.deepEqual(first.evaluated, [{ heartbeatId: 'conformance-hb', status: 'ok', changed: true }]);
  const second = await tick({ unread: 0 });
  assert.deepEqual(second.evaluated, [{ heartbeatId: 'conformance-hb', status: 'ok', changed: false }]);
  assert.deepEqual([second.stateChanged, second.enqueuedRuns], [[], 0]);
  const third = await tick({ unread: 3 });
  assert.deepEqual(third.stateChanged, [
    { heartbeatId: 'conformance-hb', from: { unread: 0 }, to: { unread: 3 } },
  ]);
  assert.equal(third.enqueuedRuns, 1);
  const action = 'workflowId=conformance-seam-heartbeat-action';
  assert.equal((await api.get(`/v1/host/gantry/runs?${action}`)).json().runs.length, 2);
  assert.equal((await api.get('/v1/host/gantry/heartbeats')).json().heartbeats.length, 1);
});

test('first ticks at the same time are ticks of one heartbeat', async (t) => {
  const api = await seamTest(t, STOPPED);
  const body = { heartbeatId: 'twins', observedState: { door: 'open' } };
  const ticks = await Promise.all([api.drive('heartbeat/tick', body), api.drive('heartbeat/tick', body)]);
  assert.equal(ticks[0].enqueuedRuns + ticks[1].enqueuedRuns, 1);
  assert.equal((await api.get('/v1/host/gantry/heartbeats')).json().heartbeats.length, 1);
});

test('a predicate that takes too long is ended', async (t) => {
  const api = await seamTest(t);
  const slow = { heartbeatId: 'conformance-hb-slow', observedState: {}, simulateSlowMs: 60_000 };
  const { evaluated, stateChanged, enqueuedRuns } = await api.drive('heartbeat/tick', slow);
  assert.deepEqual(evaluated, [{ heartbeatId: 'conformance-hb-slow', status: 'timeout', changed: false }]);
  assert.deepEqual([stateChanged, enqueuedRuns], [[], 0]);
  const [run] = (await api.get('/v1/host/gantry/runs')).json().runs;
  assert.ok(['cancelled', 'failed'].includes(run.status), run.status);
});
