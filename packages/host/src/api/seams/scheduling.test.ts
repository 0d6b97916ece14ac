import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError } from '../testing/api-test.ts';
import { seamTest } from './testing/seam-test.ts';

test('a tick fires one run, and so does a window of missed ones', async (t) => {
  const api = await seamTest(t);
  const runs = async () =>
    (await api.get('/v1/host/gantry/runs?workflowId=conformance-seam-scheduled')).json();
  assert.deepEqual(await api.drive('scheduling/tick', { scenario: 'single-tick' }), { runsFired: 1 });
  assert.equal((await runs()).runs.length, 1);
  const missed = { scenario: 'missed-window', missedTicks: 5 };
  assert.deepEqual(await api.drive('scheduling/tick', missed), { runsFired: 1 });
  assert.equal((await runs()).runs.length, 2);
  assert.deepEqual((await api.get('/v1/host/gantry/schedules')).json().schedules, []);
});

test('a run of a tick bears it as its cause', async (t) => {
  const api = await seamTest(t);
  await api.drive('scheduling/tick', { scenario: 'single-tick' });
  const [{ runId }] = (await api.get('/v1/host/gantry/runs')).json().runs;
  const { events } = (await api.get(`/v1/host/sample/test/runs/${runId}/events?type=run.started`)).json();
  assert.match(events[0].causationId, /^sch_\w+@/);
});

test('a scenario that is none is refused', async (t) => {
  const api = await seamTest(t);
  const refused = await api.post('/v1/host/sample/scheduling/tick', { scenario: 'eclipse' });
  assertError(refused, 400, 'validation_error');
});
