import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunEventDoc } from '@gantry/protocol';
import { assertError, assertPublic } from '../testing/api-test.ts';
import { type SeamTest, seamTest } from './testing/seam-test.ts';

const runs = '/v1/host/sample/test/runs';

async function eventsOf(api: SeamTest, runId: string, query = '', headers = {}): Promise<RunEventDoc[]> {
  const response = await api.get(`${runs}/${runId}/events${query}`, headers);
  assert.equal(response.statusCode, 200, response.body);
  return response.json().events;
}

test('the log is what is stored, filtered as asked', async (t) => {
  const api = await seamTest(t);
  const runId = await api.start('three');
  await api.ended(runId);
  const polled = (await api.get(`/v1/runs/${runId}/events/poll`)).json().events;
  const all = await eventsOf(api, runId);
  assert.deepEqual(all, polled);
  for (const event of all) assertPublic('run-event.schema.json', event);
  const completed = await eventsOf(api, runId, '?type=node.completed');
  assert.deepEqual(
    completed.map(({ nodeId }) => nodeId),
    ['a', 'b', 'c'],
  );
  assert.deepEqual(await eventsOf(api, runId, '?type=node.completed&nodeId=b'), [completed[1]]);
  assert.deepEqual(await eventsOf(api, runId, '?causationId=nobody'), []);
  assert.deepEqual(await eventsOf(api, runId, '?correlationId=nobody'), []);
  assertError(await api.get(`${runs}/${runId}/events?colour=red`), 400, 'validation_error');
});

test('a run that is not there, or not one of the tenant, has no events', async (t) => {
  const api = await seamTest(t);
  const runId = await api.start('three');
  const made = await api.post('/v1/host/gantry/keys', {
    name: 'other',
    scopes: ['runs:read'],
    tenant: 'acme',
  });
  const as = { authorization: `Bearer ${made.json().key}` };
  assert.deepEqual(await eventsOf(api, 'run_none'), []);
  assert.deepEqual(await eventsOf(api, runId, '', as), []);
  assertError(await api.get(`${runs}/${runId}/variables`, as), 404, 'not_found');
});

test('variables are shown as readers may see them', async (t) => {
  const api = await seamTest(t);
  const runId = await api.start('secretive', { inputs: { token: 'hush', count: 3 } });
  const { variables } = (await api.get(`${runs}/${runId}/variables`)).json();
  assert.equal(variables.count, 3);
  assert.doesNotMatch(JSON.stringify(variables), /hush/);
});

test('the exported bundle is that of production, and discovery says that there is one', async (t) => {
  const api = await seamTest(t);
  const runId = await api.start('secretive', { inputs: { token: 'hush', count: 3 } });
  await api.ended(runId);
  const { generatedAt: _, ...exported } = await api.drive('test/debug-bundle/export', { runId });
  const { generatedAt: __, ...bundle } = (await api.get(`/v1/runs/${runId}/debug-bundle`)).json();
  assert.deepEqual(exported, bundle);
  assert.doesNotMatch(JSON.stringify(exported), /hush/);
  const missing = await api.post('/v1/host/sample/test/debug-bundle/export', { runId: 'run_none' });
  assert.equal(missing.statusCode, 404);
  const { observability } = (await api.get('/.well-known/openwop')).json();
  assert.deepEqual(observability.testSeams, { debugBundleExport: true });
});
