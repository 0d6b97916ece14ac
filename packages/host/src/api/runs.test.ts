import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { newRunId } from '@gantry/protocol';
import { node, workflow } from '../testing/definitions.ts';
import { onePerFile } from '../testing/one-per-file.ts';
import { apiTest, assertError, assertPublic } from './testing/api-test.ts';

const openApi = onePerFile(apiTest);

test('a run is created, read and found in the list', async () => {
  const api = await openApi();
  const created = await api.post('/v1/runs', { workflowId: 'three', tags: ['x'], metadata: { a: 1 } });
  assert.equal(created.statusCode, 201, created.body);
  const { runId, status, eventsUrl, statusUrl } = created.json();
  assert.ok(['pending', 'running'].includes(status));
  assert.deepEqual([eventsUrl, statusUrl], [`/v1/runs/${runId}/events`, `/v1/runs/${runId}`]);
  const run = await api.ended(runId);
  assertPublic('run-snapshot.schema.json', run);
  assert.equal(run.status, 'completed');
  assert.deepEqual(run.tags, ['x']);
  assert.deepEqual((run.owner as { tenant: string }).tenant, 'default');
  const { runs } = (await api.get('/v1/host/gantry/runs?status=completed&workflowId=three')).json();
  assert.deepEqual(
    runs.map((each: { runId: string }) => each.runId),
    [runId],
  );
});

test('the list goes back in time, page by page', async (t) => {
  const api = await apiTest(t);
  const started: string[] = [];
  for (let i = 0; i < 5; i++) started.push(await api.start('slow'));
  const listed: string[] = [];
  for (let before: string | undefined; ; ) {
    const cursor = before === undefined ? '' : `&before=${before}`;
    const page = (await api.get(`/v1/host/gantry/runs?limit=2${cursor}`)).json();
    listed.push(...page.runs.map((run: { runId: string }) => run.runId));
    before = page.nextBefore;
    if (before === undefined) break;
  }
  assert.deepEqual(listed.toSorted(), started.toSorted());
  assertError(await api.get('/v1/host/gantry/runs?limit=0'), 400, 'validation_error');
  assertError(await api.get('/v1/host/gantry/runs?status=odd'), 400, 'validation_error');
});

test('a create that cannot be is refused for the right reason', async () => {
  const api = await openApi();
  const secret = 'sk-canary-0123456789abcdef';
  const unknown = await api.post('/v1/runs', { workflowId: secret });
  assertError(unknown, 404, 'not_found');
  assert.ok(!unknown.body.includes(secret));
  const refused = async (body: object, status: number, code: string) =>
    assertError(await api.post('/v1/runs', { workflowId: 'three', ...body }), status, code);
  await refused({ tenantId: 'other' }, 403, 'run_forbidden');
  await refused({ residency: 'eu' }, 422, 'residency_unavailable');
  await refused({ mode: 'eval', evalSuiteRef: 'x', agentId: 'y' }, 501, 'capability_not_provided');
  await refused({ evalSuiteRef: 'x' }, 501, 'capability_not_provided');
  await refused({ agentId: 'y' }, 501, 'capability_not_provided');
  await refused({ configurable: { recursionLimit: 0 } }, 400, 'validation_error');
  await refused({ callbackUrl: 'not a url' }, 400, 'validation_error');
  assertError(await api.post('/v1/runs', { mode: 'eval' }), 501, 'capability_not_provided');
  const typed = await api.post('/v1/runs', { workflowId: 'secretive', inputs: { count: secret } });
  assertError(typed, 400, 'validation_error');
  assert.ok(!typed.body.includes(secret));
});

test('a workflow schema for configurable is enforced', async (t) => {
  const strict = workflow('strict', [node('a', 'core.noop')], {
    configurableSchema: {
      type: 'object',
      properties: { size: { type: 'integer', maximum: 3 } },
      additionalProperties: false,
    },
  });
  const api = await apiTest(t, { workflows: [strict] });
  const create = (configurable: { [key: string]: number }) =>
    api.post('/v1/runs', { workflowId: 'strict', configurable });
  assert.equal((await create({ size: 3 })).statusCode, 201);
  assertError(await create({ size: 4 }), 400, 'validation_error');
  assertError(await create({ other: 1 }), 400, 'validation_error');
  assert.ok('configurableSchema' in (await api.get('/v1/workflows/strict')).json());
});

test('X-Dedup allows one active run per scope, also for requests at the same moment', async () => {
  const api = await openApi();
  const create = (scopeId?: string) =>
    api.post('/v1/runs', { workflowId: 'slow', ...(scopeId && { scopeId }) }, { 'x-dedup': 'enforce' });
  const answers = await Promise.all([create('s'), create('s'), create('s')]);
  const [made, ...refused] = answers.toSorted((a, b) => a.statusCode - b.statusCode);
  assert.equal(made!.statusCode, 201);
  for (const each of refused) {
    assertError(each, 409, 'run_already_active', { activeRunId: made!.json().runId, activeHost: 'cloud' });
    assert.equal(each.headers['retry-after'], String(each.json().details.retryAfter));
  }
  assert.equal((await create('other')).statusCode, 201);
  assertError(await create(), 400, 'validation_error');
  await api.post(`/v1/runs/${made!.json().runId}/cancel`);
  assert.equal((await create('s')).statusCode, 201);
});

test('a run that has not moved is not sent again', async () => {
  const api = await openApi();
  const runId = await api.start('slow');
  const first = await api.get(`/v1/runs/${runId}`);
  const etag = String(first.headers.etag);
  assert.match(etag, new RegExp(`^"${runId}-\\d+"$`));
  const same = await api.get(`/v1/runs/${runId}`, { 'if-none-match': etag });
  assert.deepEqual([same.statusCode, same.body], [304, '']);
  await api.post(`/v1/runs/${runId}:pause`, { drainPolicy: 'immediate' });
  const moved = await api.get(`/v1/runs/${runId}`, { 'if-none-match': etag });
  assert.equal(moved.statusCode, 200);
  assert.notEqual(moved.headers.etag, etag);
});

for (const [size, metadata] of [
  ['large', { text: 'all the same '.repeat(200) }],
  ['small', { text: 'Ærøskøbing' }],
] as const)
  test(`a ${size} run is compressed for those who can read it, with the same bytes inside`, async () => {
    const api = await openApi();
    const runId = await api.start('slow', { metadata });
    const plain = await api.get(`/v1/runs/${runId}`);
    assert.equal(plain.headers['content-encoding'], undefined);
    assert.equal(plain.headers.vary, 'Accept-Encoding');
    for (const [encoding, decode] of [
      ['gzip', gunzipSync],
      ['br', brotliDecompressSync],
    ] as const) {
      const packed = await api.get(`/v1/runs/${runId}`, { 'accept-encoding': encoding });
      assert.equal(packed.headers['content-encoding'], encoding);
      assert.equal(packed.headers.etag, plain.headers.etag);
      assert.equal(decode(packed.rawPayload).toString(), plain.body);
    }
  });

test('cancel ends a run; again, or on an ended run, it changes nothing', async () => {
  const api = await openApi();
  const runId = await api.start('slow');
  const cancelled = await api.post(`/v1/runs/${runId}:cancel`, { reason: 'enough' });
  assert.equal(cancelled.statusCode, 200, cancelled.body);
  assert.ok(['cancelled', 'cancelling'].includes(cancelled.json().status));
  assert.equal((await api.ended(runId)).status, 'cancelled');
  const again = await api.post(`/v1/runs/${runId}/cancel`);
  assert.deepEqual([again.statusCode, again.json()], [200, { runId, status: 'cancelled' }]);
  const done = await api.start('three');
  await api.ended(done);
  const late = await api.post(`/v1/runs/${done}/cancel`);
  assert.deepEqual([late.statusCode, late.json()], [200, { runId: done, status: 'completed' }]);
  assertError(await api.post('/v1/runs/absent/cancel'), 404, 'not_found');
  assertError(await api.post(`/v1/runs/${runId}/cancel`, { odd: 1 }), 400, 'validation_error');
});

test('pause and resume', async () => {
  const api = await openApi();
  const runId = await api.start('slow');
  const paused = await api.post(`/v1/runs/${runId}:pause`, { drainPolicy: 'immediate' });
  assert.equal(paused.statusCode, 202, paused.body);
  const { pausedAt } = paused.json();
  assert.deepEqual(paused.json(), { runId, status: 'paused', pausedAt });
  assert.equal((await api.get(`/v1/runs/${runId}`)).json().status, 'paused');
  const again = await api.post(`/v1/runs/${runId}:pause`, {});
  assertError(again, 409, 'conflict', { runStatus: 'paused', pausedAt });
  const resumed = await api.post(`/v1/runs/${runId}:resume`);
  assert.deepEqual([resumed.statusCode, resumed.json().status], [202, 'running']);
  assertError(await api.post(`/v1/runs/${runId}:resume`), 409, 'conflict', { runStatus: 'running' });
  assertError(await api.post('/v1/runs/absent:pause', {}), 404, 'not_found');
});

test('bulk cancel answers for each run in the order asked', async () => {
  const api = await openApi();
  const [running, done, cancelled] = [
    await api.start('slow'),
    await api.start('three'),
    await api.start('slow'),
  ];
  await api.ended(done);
  await api.post(`/v1/runs/${cancelled}/cancel`);
  await api.ended(cancelled);
  const response = await api.post('/v1/runs:bulk-cancel', { runIds: [done, running, 'absent', cancelled] });
  assert.equal(response.statusCode, 200, response.body);
  const { results } = response.json();
  assert.deepEqual(
    results.map((result: { ok: boolean; status?: string; error?: { code: string } }) =>
      result.ok ? result.status : result.error?.code,
    ),
    ['run_terminal', results[1].status, 'not_found', 'cancelled'],
  );
  assert.ok(['cancelled', 'cancelling'].includes(results[1].status));
  const many = Array.from({ length: 101 }, (_, i) => `run_${i}`);
  for (const runIds of [many, []]) {
    assertError(await api.post('/v1/runs:bulk-cancel', { runIds }), 400, 'validation_error', {
      maxRunIds: 100,
    });
  }
});

test('a run older than the retention is gone, one that never was is not there', async () => {
  const api = await openApi();
  const old = newRunId(Date.now() - 400 * 86_400_000, randomBytes);
  const fresh = newRunId(Date.now(), randomBytes);
  assertError(await api.get(`/v1/runs/${old}`), 410, 'run_expired');
  assertError(await api.get(`/v1/runs/${fresh}`), 404, 'not_found');
  const fork = await api.post(`/v1/runs/${old}:fork`, { mode: 'branch', fromSeq: 3 });
  assertError(fork, 410, 'run_expired');
  assert.equal(fork.json().details.sourceRunId, old);
  assert.equal(fork.json().details.fromSeq, 3);
});
