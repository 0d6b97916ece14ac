import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Json, WorkflowDefinition } from '@gantry/protocol';
import { publicFixtures, skipWithoutPublicData } from '../../../protocol/src/testing/public-schemas.ts';
import { snapshot } from '../index.ts';
import { answer, assertSound, refusalOf } from '../testing/answers.ts';
import { Trial } from '../testing/workflow.ts';

const fixtures = publicFixtures();
const begin = (id: string): Trial =>
  Trial.begin(fixtures.get(`conformance-${id}.json`) as WorkflowDefinition);
const seen = (trial: Trial) => snapshot(trial.plan, trial.run);

describe('public fixtures that ask', { skip: skipWithoutPublicData }, () => {
  const cases: [string, string, string, Json, string][] = [
    ['approval', 'gate', 'waiting-approval', { action: 'accept' }, 'completed'],
    ['approval', 'gate', 'waiting-approval', { action: 'reject' }, 'failed'],
    ['clarification', 'ask', 'waiting-input', { answers: { q1: 'blue' } }, 'completed'],
    ['interrupt-auth-required', 'gate', 'waiting-approval', { action: 'accept' }, 'completed'],
    [
      'interrupt-parent-child-cancel-child',
      'child-gate',
      'waiting-approval',
      { action: 'accept' },
      'completed',
    ],
    [
      'interrupt-external-event',
      'wait-for-external',
      'waiting-external',
      { orderId: 'fixture-order-1', status: 'completed' },
      'completed',
    ],
    ['agent-low-confidence', 'low-conf-decider', 'waiting-approval', { action: 'accept' }, 'completed'],
    ['conversation-capability-negotiation', 'convo', 'waiting-approval', { operation: 'close' }, 'completed'],
  ];
  for (const [id, nodeId, waiting, value, end] of cases)
    test(`${id}: ${JSON.stringify(value)} ends ${end}`, () => {
      const trial = begin(id);
      assert.deepEqual([seen(trial).status, seen(trial).currentNodeId], [waiting, nodeId]);
      assert.equal(answer(trial, nodeId, value).refusal, undefined);
      assert.equal(seen(trial.advance()).status, end);
      assertSound(trial);
    });

  test('approval: another action is refused', () => {
    assert.equal(
      refusalOf(begin('approval'), 'gate', { action: 'refine', refineFeedback: 'x' }),
      'validation_error',
    );
  });

  test('interrupt-external-event: a mismatch stays, a minute fails', () => {
    const trial = begin('interrupt-external-event');
    assert.equal(refusalOf(trial, 'wait-for-external', { orderId: 'other' }), 'correlation_mismatch');
    assert.equal(trial.wake(61_000).run.error?.code, 'interrupt_timeout');
  });

  for (const [action, votes, end] of [
    ['accept', 3, 'completed'],
    ['reject', 2, 'failed'],
  ] as const)
    test(`interrupt-quorum: ${votes} times ${action} ends ${end}`, () => {
      const trial = begin('interrupt-quorum');
      for (let i = 0; i < votes; i++) {
        assert.equal(seen(trial).status, 'waiting-approval');
        answer(trial, 'gate', { action, voter: `voter-${i}` });
        assert.equal(refusalOf(trial, 'gate', { action, voter: `voter-${i}` }) === undefined, i < votes - 1);
      }
      assert.equal(seen(trial.advance()).status, end);
      assertSound(trial);
    });

  for (const id of [
    'agent-identity',
    'agent-pack-provenance',
    'agent-reasoning',
    'agent-reasoning-streaming',
  ])
    test(`${id}: the run bears the agent's identity`, () => {
      const trial = begin(id);
      assert.deepEqual(seen(trial).agent, [...trial.plan.nodes.values()][0]?.definition.agent);
      assert.equal(trial.run.status, 'completed');
      assertSound(trial);
    });

  for (const id of ['conversation-lifecycle', 'conversation-vs-clarification', 'conversation-replay'])
    test(`${id}: plays from open to close, without clarifications`, () => {
      const trial = begin(id);
      assert.equal(trial.run.status, 'completed');
      const types = trial.events.map(({ type }) => type).filter((type) => /^(conv|clar)/.test(type));
      const turns = id === 'conversation-replay' ? 3 : 1;
      assert.deepEqual(types, [
        'conversation.opened',
        ...Array.from({ length: turns }, () => 'conversation.exchanged'),
        'conversation.closed',
      ]);
      assertSound(trial);
    });
});
