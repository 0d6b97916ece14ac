import assert from 'node:assert/strict';
import { test } from 'node:test';
import { skipWithoutPublicData as skip } from '../../../protocol/src/testing/public-schemas.ts';
import { fixtureHost } from '../testing/fixture-host.ts';
import { assertOrder, only, payloadsOf, typesOf } from '../testing/run-events.ts';

test('conformance-channel-ttl: only the fresh entry is left', { skip }, async () => {
  const host = await fixtureHost();
  const snapshot = await host.ended(await host.start('conformance-channel-ttl'));
  assert.equal(snapshot.status, 'completed');
  const { events } = Object(snapshot.variables);
  assert.equal(events.length, 1);
  assert.equal(events[0].value, 'd');
  assert.equal(typeof events[0]._ts, 'number');
});

test('conformance-message-reducer: a repeated message folds once', { skip }, async () => {
  const host = await fixtureHost();
  const runId = await host.start('conformance-message-reducer');
  const snapshot = await host.ended(runId);
  assert.equal(snapshot.status, 'completed');
  const written = payloadsOf(await host.events(runId), 'channel.written');
  const ids = written.map(({ value }) => Object(value).messageId);
  assert.ok(new Set(ids).size < ids.length);
  const folded = Object(snapshot.channels).messages.map((message: object) => Object(message).messageId);
  assert.deepEqual(folded, [...new Set(ids)]);
});

for (const [workflowId, turns] of [
  ['conformance-conversation-lifecycle', 1],
  ['conformance-conversation-vs-clarification', 1],
  ['conformance-conversation-replay', 3],
] as const) {
  test(`${workflowId}: opens, exchanges, closes by itself`, { skip }, async () => {
    const host = await fixtureHost();
    const runId = await host.start(workflowId);
    assert.equal((await host.ended(runId)).status, 'completed');
    const events = await host.events(runId);
    assertOrder(events, [
      'node.suspended',
      'conversation.opened',
      'conversation.exchanged',
      'conversation.closed',
      'node.resumed',
    ]);
    assert.ok(payloadsOf(events, 'conversation.exchanged').length >= turns);
    assert.equal(only(events, 'conversation.opened').causationId, only(events, 'node.suspended').eventId);
    assert.ok(!typesOf(events).some((type) => type.startsWith('clarification.')));
  });
}

test('conformance-agent-*: identity, reasoning, and the hold on low confidence', { skip }, async () => {
  const host = await fixtureHost();
  const identity = await host.ended(await host.start('conformance-agent-identity'));
  assert.equal(Object(identity.agent).agentId, 'core.conformance.identity-agent');

  const reasoning = await host.start('conformance-agent-reasoning');
  assert.equal((await host.ended(reasoning)).status, 'completed');
  const reasoned = await host.events(reasoning);
  assertOrder(reasoned, [
    'agent.reasoned',
    'agent.toolCalled',
    'agent.toolReturned',
    'agent.handoff',
    'agent.decided',
  ]);
  assert.equal(only(reasoned, 'agent.toolReturned').causationId, only(reasoned, 'agent.toolCalled').eventId);

  const streaming = await host.start('conformance-agent-reasoning-streaming');
  assert.equal((await host.ended(streaming)).status, 'completed');
  const deltas = payloadsOf(await host.events(streaming), 'agent.reasoning.delta');
  assert.deepEqual(
    deltas.map(({ sequence }) => sequence),
    [0, 1, 2],
  );

  const unsure = await host.start('conformance-agent-low-confidence');
  await host.reaches(unsure, 'waiting-approval');
  const suspended = only(await host.events(unsure), 'node.suspended').payload;
  assert.equal(suspended.reason, 'low-confidence');
  assert.equal(suspended.agentId, 'core.conformance.low-conf-decider');
});
