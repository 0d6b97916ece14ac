/** What clients that others wrote ask for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onePerFile } from '../testing/one-per-file.ts';
import { apiTest, assertError, assertPublic } from './testing.ts';

const openApi = onePerFile(apiTest);

test('runs are listed at the path of other clients, page by page', async () => {
  const api = await openApi();
  const started = [await api.start('three'), await api.start('three'), await api.start('slow')];
  const first = (await api.get('/v1/runs?limit=2')).json();
  assert.deepEqual(
    first.runs.map(({ runId }: { runId: string }) => runId),
    started.slice(1).toReversed(),
  );
  const rest = (await api.get(`/v1/runs?limit=2&cursor=${first.nextCursor}`)).json();
  assert.deepEqual(
    rest.runs.map(({ runId }: { runId: string }) => runId),
    started.slice(0, 1),
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

test('routes of capabilities that are not served say so', async () => {
  const api = await openApi();
  for (const url of ['/v1/runs/any/annotations', '/v1/content/pages/home', '/v1/host/workspace/files/a.md'])
    assertError(await api.get(url), 501, 'capability_not_provided');
  assertError(await api.post('/v1/runs/any/annotations', {}), 501, 'capability_not_provided');
  assertError(await api.get('/v1/nothing'), 404, 'not_found');
});

test('the debug bundle names its run, and holds no more events than asked for', async () => {
  const api = await openApi();
  const runId = await api.start('three');
  await api.ended(runId);
  const bundle = (await api.get(`/v1/runs/${runId}/debug-bundle?maxEvents=2`)).json();
  assert.deepEqual([bundle.runId, bundle.events.length, bundle.truncated], [runId, 2, true]);
  assertPublic('debug-bundle.schema.json', bundle);
});
