import assert from 'node:assert/strict';
import { test } from 'node:test';
import { skipWithoutPublicData as skip } from '../../../protocol/src/testing/public-schemas.ts';
import { fixtureHost } from '../testing/fixture-host.ts';
import { assertOrder, only, payloadsOf } from '../testing/run-events.ts';

test('conformance-approval: waits at its gate, refuses what was not offered, completes on accept', {
  skip,
}, async () => {
  const host = await fixtureHost();
  const runId = await host.start('conformance-approval');
  const waiting = await host.reaches(runId, 'waiting-approval');
  assert.equal(waiting.currentNodeId, 'gate');
  assert.equal((await host.answer(runId, 'gate', { action: 'maybe' })).statusCode, 400);
  assert.equal((await host.answer(runId, 'gate', { action: 'refine' })).statusCode, 400);
  const answer = await host.answer(runId, 'gate', { action: 'accept' });
  assert.equal(answer.statusCode, 200, answer.body);
  assert.equal((await host.ended(runId)).status, 'completed');
  const events = await host.events(runId);
  assertOrder(events, [
    'node.suspended',
    'interrupt.requested',
    'interrupt.resolved',
    'approval.received',
    'node.resumed',
    'node.completed',
    'run.completed',
  ]);
  assert.ok(only(events, 'approval.received').payload.decidedBy);
  assert.equal((await host.answer(runId, 'gate', { action: 'accept' })).statusCode, 409);
  assert.equal((await host.answer(runId, 'nowhere', { action: 'accept' })).statusCode, 404);
});

test('conformance-approval: of many answers at once exactly one wins', { skip }, async () => {
  const host = await fixtureHost();
  const runId = await host.start('conformance-approval');
  await host.reaches(runId, 'waiting-approval');
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => host.answer(runId, 'gate', { action: 'accept' })),
  );
  assert.equal(answers.filter(({ statusCode }) => statusCode === 200).length, 1);
  assert.equal(answers.filter(({ statusCode }) => statusCode === 409).length, 9);
});

test('conformance-clarification: waits for input, completes with answers', { skip }, async () => {
  const host = await fixtureHost();
  const runId = await host.start('conformance-clarification');
  assert.equal((await host.reaches(runId, 'waiting-input')).currentNodeId, 'ask');
  const answer = await host.answer(runId, 'ask', { answers: { q1: 'blue' } });
  assert.equal(answer.statusCode, 200, answer.body);
  assert.equal((await host.ended(runId)).status, 'completed');
  assertOrder(await host.events(runId), [
    'clarification.requested',
    'clarification.resolved',
    'node.completed',
  ]);
});

test('conformance-interrupt-quorum: three accepts complete, two rejects fail', { skip }, async () => {
  const host = await fixtureHost();
  const accepted = await host.start('conformance-interrupt-quorum');
  for (const voter of ['a', 'b', 'b']) {
    assert.equal((await host.answer(accepted, 'gate', { action: 'accept', voter })).statusCode, 200);
    assert.equal((await host.reaches(accepted, 'waiting-approval')).status, 'waiting-approval');
  }
  assert.equal((await host.answer(accepted, 'gate', { action: 'accept', voter: 'c' })).statusCode, 200);
  assert.equal((await host.ended(accepted)).status, 'completed');

  const rejected = await host.start('conformance-interrupt-quorum');
  for (const voter of ['a', 'b'])
    assert.equal((await host.answer(rejected, 'gate', { action: 'reject', voter })).statusCode, 200);
  assert.equal((await host.ended(rejected)).status, 'failed');
});

test('conformance-interrupt-external-event: only the right correlation resumes it', { skip }, async () => {
  const host = await fixtureHost();
  const runId = await host.start('conformance-interrupt-external-event');
  const waiting = await host.reaches(runId, 'waiting-external');
  const token = Object(waiting.interrupt).interruptToken;
  const url = `/v1/interrupts/${token}`;
  const look = await host.host.app.inject({ method: 'GET', url });
  assert.equal(look.statusCode, 200, look.body);
  assert.equal(look.json().kind, 'external-event');
  const wrong = { resumeValue: { orderId: 'other', status: 'completed' } };
  const right = { resumeValue: { orderId: 'fixture-order-1', status: 'completed' } };
  const post = (payload: object) => host.host.app.inject({ method: 'POST', url, payload, headers: {} });
  assert.equal((await post(wrong)).statusCode, 422);
  assert.equal((await host.reaches(runId, 'waiting-external')).status, 'waiting-external');
  const answered = await post(right);
  assert.equal(answered.statusCode, 200, answered.body);
  assert.equal((await host.ended(runId)).status, 'completed');
  assert.equal((await post(right)).statusCode, 409);
  const unknown = await host.host.app.inject({ method: 'GET', url: '/v1/interrupts/tok_0123456789' });
  assert.equal(unknown.statusCode, 404);
});

test('conformance-interrupt-auth-required: a token alone is not enough', { skip }, async () => {
  const host = await fixtureHost();
  const runId = await host.start('conformance-interrupt-auth-required');
  const waiting = await host.reaches(runId, 'waiting-approval');
  const url = `/v1/interrupts/${Object(waiting.interrupt).interruptToken}`;
  const payload = { resumeValue: { action: 'accept' } };
  const bare = await host.host.app.inject({ method: 'POST', url, payload });
  assert.ok([401, 403].includes(bare.statusCode), bare.body);
  const unknown = { authorization: 'Bearer gk_nobody' };
  const wrong = await host.host.app.inject({ method: 'POST', url, payload, headers: unknown });
  assert.equal(wrong.statusCode, 401);
  assert.equal((await host.answer(runId, 'gate', { action: 'accept' })).statusCode, 200);
  assert.equal((await host.ended(runId)).status, 'completed');
});

test('conformance-interrupt-parent-child-cancel: the cascade ends the child and its question', {
  skip,
}, async () => {
  const host = await fixtureHost();
  const runId = await host.start('conformance-interrupt-parent-child-cancel');
  const childRunId = await childOf(host, runId);
  const waiting = await host.reaches(childRunId, 'waiting-approval');
  assert.equal(waiting.parentRunId, runId);
  const parent = (await host.get(`/v1/runs/${runId}`)).json();
  assert.deepEqual(
    [parent.status, parent.childRuns],
    ['waiting-approval', [{ runId: childRunId, status: 'waiting-approval' }]],
  );
  assert.equal((await host.post(`/v1/runs/${runId}/cancel`, {})).statusCode, 200);
  assert.equal((await host.ended(childRunId)).status, 'cancelled');
  const cancelled = only(await host.events(childRunId), 'run.cancelled').payload;
  assert.equal(cancelled.reason, 'parent-cancelled');
  assert.equal(cancelled.parentRunId, runId);
  const late = await host.answer(childRunId, 'child-gate', { action: 'accept' });
  assert.ok([409, 410].includes(late.statusCode), late.body);
  assert.equal(payloadsOf(await host.events(runId), 'run.cancelled')[0]?.parentRunId, undefined);
});

async function childOf(host: Awaited<ReturnType<typeof fixtureHost>>, runId: string): Promise<string> {
  for (let last = -1; ; ) {
    const cursor = last < 0 ? '' : `&lastSequence=${last}`;
    const answer = (await host.get(`/v1/runs/${runId}/events/poll?timeout=60${cursor}`)).json();
    const [dispatched] = payloadsOf(answer.events, 'node.dispatched');
    if (dispatched) return String(dispatched.childRunId);
    assert.ok(answer.lastEventSeq > last, 'no child was dispatched');
    last = answer.lastEventSeq;
  }
}
