import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { JsonObject } from '@gantry/protocol';
import type { LightMyRequestResponse } from 'fastify';
import { node, workflow } from '../testing/definitions.ts';
import { apiTest, assertError } from './testing/api-test.ts';

const asks = workflow('asks', [
  node('gate', 'core.approvalGate', { title: 'Go on?', actions: ['accept', 'reject'], timeoutMs: 3_600_000 }),
]);
const ACCEPT = { resumeValue: { action: 'accept' } };

async function asking(t: TestContext) {
  let clock = Date.now();
  const api = await apiTest(t, { workflows: [asks], now: () => clock });
  const runId = await api.start('asks');
  /** Without a key: the token is all there is. */
  const bare = (method: 'GET' | 'POST', token: string, payload?: object): Promise<LightMyRequestResponse> =>
    api.host.app.inject({ method, url: `/v1/interrupts/${token}`, ...(payload && { payload }) });
  return {
    ...api,
    runId,
    bare,
    pass: (ms: number) => {
      clock += ms;
    },
    async snapshot(headers: Record<string, string> = {}): Promise<JsonObject> {
      return (await api.get(`/v1/runs/${runId}`, headers)).json();
    },
    async key(scopes: string[]): Promise<Record<string, string>> {
      const made = await api.post('/v1/host/gantry/keys', { name: 'k', scopes });
      assert.equal(made.statusCode, 201, made.body);
      return { authorization: `Bearer ${made.json().key}` };
    },
  };
}

const tokenOf = (snapshot: JsonObject): string => Object(snapshot.interrupt).interruptToken;

test('looking at a question never answers it; answering with the same token does, once', async (t) => {
  const api = await asking(t);
  const token = tokenOf(await api.snapshot());
  for (let look = 0; look < 3; look++) {
    const seen = await api.bare('GET', token);
    assert.equal(seen.statusCode, 200, seen.body);
    assert.equal(seen.json().data.title, 'Go on?');
  }
  assert.equal((await api.snapshot()).status, 'waiting-approval');
  const answered = await api.bare('POST', token, ACCEPT);
  assert.equal(answered.statusCode, 200, answered.body);
  assert.deepEqual(answered.json(), { runId: api.runId, nodeId: 'gate', status: 'completed' });
  assertError(await api.bare('POST', token, ACCEPT), 409, 'interrupt_already_resolved');
  assertError(await api.bare('GET', token), 409, 'interrupt_already_resolved');
});

test('who may not answer gets a token that only looks', async (t) => {
  const api = await asking(t);
  const reader = await api.key(['runs:read']);
  const token = tokenOf(await api.snapshot(reader));
  assert.equal((await api.bare('GET', token)).statusCode, 200);
  assertError(await api.bare('POST', token, ACCEPT), 403, 'forbidden');
  const url = `/v1/runs/${api.runId}/interrupts/gate`;
  assertError(await api.post(url, ACCEPT, reader), 403, 'forbidden');
  assert.equal((await api.snapshot()).status, 'waiting-approval');
});

test('a token that was changed in any place, or made elsewhere, is no token', async (t) => {
  const api = await asking(t);
  const token = tokenOf(await api.snapshot());
  const [body = '', signature = ''] = token.split('.');
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString());
  const forged = Buffer.from(JSON.stringify({ ...claims, expiresAt: claims.expiresAt + 1 })).toString(
    'base64url',
  );
  const other = tokenOf(await (await asking(t)).snapshot());
  for (const bad of [
    'tok_0123456789',
    body,
    `${body}.`,
    `${body}.${signature.slice(1)}`,
    `${forged}.${signature}`,
    `.${signature}`,
    other,
    'x'.repeat(2_000),
  ])
    for (const body of [ACCEPT, {}])
      assertError(await api.bare('POST', bad, body), 404, 'interrupt_not_found');
  assert.equal((await api.snapshot()).status, 'waiting-approval');
});

test('a token lives for half an hour, never longer than its question', async (t) => {
  const api = await asking(t);
  const token = tokenOf(await api.snapshot());
  api.pass(31 * 60_000);
  assertError(await api.bare('GET', token), 410, 'interrupt_expired');
  assertError(await api.bare('POST', token, ACCEPT), 410, 'interrupt_expired');
  const late = Object((await api.snapshot()).interrupt);
  const claims = JSON.parse(Buffer.from(late.interruptToken.split('.')[0], 'base64url').toString());
  assert.equal(new Date(claims.expiresAt).toISOString(), late.deadline);
});

test('silence rejects: at the deadline the gate fails and nobody can answer any more', async (t) => {
  const brief = workflow('brief', [
    node('gate', 'core.approvalGate', { title: 'Quick?', actions: ['accept'], timeoutMs: 30 }),
  ]);
  const api = await apiTest(t, { workflows: [brief] });
  const runId = await api.start('brief');
  assert.equal((await api.ended(runId)).status, 'failed');
  const { events } = (await api.get(`/v1/runs/${runId}/events/poll`)).json();
  const resolved = events.find(({ type }: { type: string }) => type === 'interrupt.resolved').payload;
  assert.deepEqual([resolved.outcome, resolved.reason], ['rejected', 'timeout']);
  const late = await api.post(`/v1/runs/${runId}/interrupts/gate`, ACCEPT);
  assertError(late, 410, 'interrupt_expired');
  assertError(await api.get(`/v1/runs/${runId}/interrupts/gate`), 410, 'interrupt_expired');
});

test('an answer is idempotent by its key, and refused once the run is cancelled', async (t) => {
  const api = await asking(t);
  const url = `/v1/runs/${api.runId}/interrupts/gate`;
  const key = { 'idempotency-key': 'answer-1' };
  const first = await api.post(url, ACCEPT, key);
  const again = await api.post(url, ACCEPT, key);
  assert.deepEqual([first.statusCode, again.statusCode], [200, 200]);
  assert.equal(again.headers['openwop-idempotent-replay'], 'true');
  assert.equal(again.body, first.body);

  const other = await asking(t);
  const token = tokenOf(await other.snapshot());
  await other.post(`/v1/runs/${other.runId}/cancel`, {});
  const late = await other.post(`/v1/runs/${other.runId}/interrupts/gate`, ACCEPT);
  assertError(late, 422, 'interrupt_cancelled');
  const bare = await other.post(`/v1/runs/${other.runId}/approvals/gate`, ACCEPT.resumeValue);
  for (const lost of [bare, await other.bare('POST', token, ACCEPT)])
    assertError(lost, 409, 'interrupt_already_resolved');
});

test('another tenant sees neither the question nor the run', async (t) => {
  const api = await asking(t);
  const made = await api.post('/v1/host/gantry/keys', {
    name: 'stranger',
    tenant: 'other',
    scopes: ['runs:read', 'approvals:respond'],
  });
  const stranger = { authorization: `Bearer ${made.json().key}` };
  const url = `/v1/runs/${api.runId}/interrupts/gate`;
  assertError(await api.post(url, ACCEPT, stranger), 404, 'interrupt_not_found');
  assertError(await api.get(url, stranger), 404, 'interrupt_not_found');
  assert.deepEqual((await api.get('/v1/host/gantry/interrupts', stranger)).json(), { interrupts: [] });
  assert.equal((await api.get('/v1/host/gantry/interrupts')).json().interrupts.length, 1);
});

test('an approval may come bare, and in the words of other clients; what is no answer names the actions', async (t) => {
  const api = await asking(t);
  const url = `/v1/runs/${api.runId}/approvals/gate`;
  const wrong = await api.post(url, { action: 'yes' });
  assertError(wrong, 400, 'validation_error');
  assert.match(wrong.json().message, /accept, reject/);
  assertError(await api.post(url, {}), 400, 'validation_error');
  assertError(await api.post(url, { resumeValue: 1, more: 2 }), 400, 'validation_error');
  const done = await api.post(url, { action: 'approve' });
  assert.deepEqual([done.statusCode, done.json().status], [200, 'completed'], done.body);
});

test('a group is a scope of a key', async (t) => {
  const api = await asking(t);
  await api.registered(
    workflow('grouped', [node('gate', 'core.approvalGate', { approverGroupRefs: ['finance'] })]),
  );
  const runId = await api.start('grouped');
  const url = `/v1/runs/${runId}/interrupts/gate`;
  const other = await api.key(['approvals:respond', 'group:sales']);
  assertError(await api.post(url, ACCEPT, other), 403, 'forbidden');
  const member = await api.key(['approvals:respond', 'group:finance']);
  assert.equal((await api.post(url, ACCEPT, member)).statusCode, 200);
});

test('absolute addresses begin with the public URL, else as the request names the host', async (t) => {
  const headers = { host: 'gantry.example' };
  const subscribe = { source: 'webhook', workflowId: 'asks' };
  for (const [publicUrl, origin] of [
    ['https://gantry.example/base', 'https://gantry.example/base'],
    [undefined, 'http://gantry.example'],
  ] as const) {
    const api = await apiTest(t, { workflows: [asks], settings: { publicUrl } });
    const { interrupt } = (await api.get(`/v1/runs/${await api.start('asks')}`, headers)).json();
    assert.equal(interrupt.callbackUrl, `${origin}/v1/interrupts/${interrupt.interruptToken}`);
    const { binding, subscription } = (
      await api.post('/v1/trigger-subscriptions', subscribe, headers)
    ).json();
    const { subscriptionId } = subscription;
    assert.equal(binding.ingestUrl, `${origin}/v1/ingest/${subscriptionId}`);
    const rotated = await api.post(
      `/v1/host/gantry/trigger-subscriptions/${subscriptionId}:rotate-secret`,
      {},
      headers,
    );
    assert.equal(rotated.json().ingestUrl, binding.ingestUrl);
  }
});
