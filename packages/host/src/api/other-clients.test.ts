/** What clients that others wrote ask for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { node, workflow } from '../testing/definitions.ts';
import { onePerFile } from '../testing/one-per-file.ts';
import { apiTest, assertError, assertPublic } from './testing/api-test.ts';

const openApi = onePerFile(apiTest);

test('runs are listed at the path of other clients, page by page', async () => {
  const api = await openApi();
  const started = [await api.start('three'), await api.start('three'), await api.start('slow')];
  // Ids of one millisecond have no order in time, so the list has the order of the ids.
  const newestFirst = started.toSorted().toReversed();
  const first = (await api.get('/v1/runs?limit=2')).json();
  assert.deepEqual(
    first.runs.map(({ runId }: { runId: string }) => runId),
    newestFirst.slice(0, 2),
  );
  const rest = (await api.get(`/v1/runs?limit=2&cursor=${first.nextCursor}`)).json();
  assert.deepEqual(
    rest.runs.map(({ runId }: { runId: string }) => runId),
    newestFirst.slice(2),
  );
  assert.equal(rest.nextCursor, undefined);
  const slow = (await api.get('/v1/runs?workflowId=slow')).json();
  assert.equal(slow.runs.length, 1);
});

test('unknown query parameters of protocol reads are ignored and named; those of the host are refused', async () => {
  const api = await openApi();
  const runId = await api.start('three');
  await api.ended(runId);
  const read = await api.get(`/v1/runs/${runId}/events/poll?include=all&lastSequence=0&%0d%0a=1`);
  assert.equal(read.statusCode, 200, read.body);
  assert.equal(read.headers['gantry-warning'], 'unknown query parameters ignored: include');
  assert.equal((await api.get(`/v1/runs/${runId}`)).headers['gantry-warning'], undefined);
  assertError(await api.get('/v1/host/gantry/runs?include=all'), 400, 'validation_error');
  for (const path of [
    'workflows?limit=1',
    `runs/${runId}/explain?include=all`,
    'usage?dyas=3',
    'interrupts?x',
  ])
    assertError(await api.get(`/v1/host/gantry/${path}`), 400, 'validation_error');
  const url = `/v1/host/gantry/runs/${runId}`;
  assertError(await api.request({ method: 'DELETE', url: `${url}?dryRun=true` }), 400, 'validation_error');
  assert.equal((await api.get(`/v1/runs/${runId}`)).statusCode, 200);
});

test('events are read from a sequence, and as many as asked for', async () => {
  const api = await openApi();
  const runId = await api.start('three');
  await api.ended(runId);
  const read = (await api.get(`/v1/runs/${runId}/events/poll?fromSequence=2&limit=2`)).json();
  assert.deepEqual(
    read.events.map(({ sequence }: { sequence: number }) => sequence),
    [2, 3],
  );
  assert.deepEqual([read.lastEventSeq, read.isTerminal], [3, false]);
});

test('the events route reads from a sequence as well; who asks for so many gets JSON', async () => {
  const api = await openApi();
  const runId = await api.start('three');
  await api.ended(runId);
  const read = (await api.get(`/v1/runs/${runId}/events?fromSequence=2&limit=2`)).json();
  assert.deepEqual(
    read.events.map(({ sequence }: { sequence: number }) => sequence),
    [2, 3],
  );
});

test('webhooks carry the names that other clients read', async () => {
  const api = await openApi();
  const made = await api.post('/v1/webhooks', { url: 'https://example.com/hook', events: ['run.*'] });
  assert.equal(made.statusCode, 201, made.body);
  const { webhookId, subscriptionId, url, eventTypes, createdAt } = made.json();
  assert.deepEqual([subscriptionId, url, eventTypes], [webhookId, 'https://example.com/hook', ['run.*']]);
  assert.ok(Date.parse(createdAt) > 0);
  const { webhooks, subscriptions } = (await api.get('/v1/webhooks')).json();
  assert.deepEqual(subscriptions, webhooks);
  assert.deepEqual([webhooks[0].subscriptionId, webhooks[0].eventTypes], [webhookId, ['run.*']]);
});

test('a failed item of a bulk cancel has its code in both places', async () => {
  const api = await openApi();
  const { results } = (await api.post('/v1/runs:bulk-cancel', { runIds: ['run_missing'] })).json();
  assert.deepEqual([results[0].error.code, results[0].error.error], ['not_found', 'not_found']);
});

test('an agent pinned by channel is refused as a value that does not fit', async () => {
  const api = await openApi();
  const pinned = workflow('pinned', [
    node('a', 'core.noop', {}, { agent: { agentId: 'core.some.bob', channel: 'stable' } }),
  ]);
  assertError(await api.post('/v1/host/gantry/workflows', pinned), 400, 'validation_error');
});

test('routes of capabilities that are not served say so', async () => {
  const api = await openApi();
  for (const url of ['/v1/runs/any/annotations', '/v1/content/pages/home', '/v1/host/workspace/files/a.md']) {
    assertError(await api.get(url), 501, 'capability_not_provided');
    assertError(await api.get(url, { authorization: 'Bearer nobody' }), 401, 'unauthenticated');
  }
  const artifact = '/v1/runs/any/artifacts/one';
  assertError(await api.get(artifact), 404, 'not_found');
  assertError(await api.get(artifact, { authorization: 'Bearer nobody' }), 401, 'unauthenticated');
  assertError(await api.post('/v1/runs/any/annotations', {}), 501, 'capability_not_provided');
  assertError(await api.get('/v1/nothing'), 404, 'not_found');
});

test('the debug bundle names its run, and holds no more events than asked for', async () => {
  const api = await openApi();
  const runId = await api.start('three');
  await api.ended(runId);
  const bundle = (await api.get(`/v1/runs/${runId}/debug-bundle?maxEvents=2`)).json();
  assert.deepEqual([bundle.runId, bundle.events.length, bundle.truncated], [runId, 2, true]);
  const whole = (await api.get(`/v1/runs/${runId}/debug-bundle`)).json();
  assert.equal(bundle.metrics.eventCount, whole.events.length, 'of all events, also of those left out');
  assertPublic('debug-bundle.schema.json', bundle);
});
