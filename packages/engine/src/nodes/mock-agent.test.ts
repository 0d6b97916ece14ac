import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { eventId, type JsonObject } from '@gantry/protocol';
import { DefinitionError, statusOf } from '../index.ts';
import { answer, assertSound } from '../testing/answers.ts';
import { node, Trial, workflow } from '../testing/workflow.ts';

const TYPE = 'core.conformance.mock-agent';
const agent = { agentId: 'core.some.agent' };
const play = (config: JsonObject, configurable: JsonObject = {}) =>
  Trial.begin(workflow([node('a', TYPE, { config, agent })], [], { id: 'conformance-x' }), { configurable });
const calls = [
  { toolId: 'echo', arguments: { x: 1 }, result: null, durationMs: 2 },
  { toolId: 'boom', error: { error: 'broken', message: 'It broke.' } },
];

describe('a mocked agent', () => {
  test('speaks in the documented order', () => {
    const trial = play({
      mockReasoning: { summary: 's', streamChunks: ['a', 'b'] },
      mockToolCalls: calls,
      mockHandoff: { toAgentId: 'core.other.agent', context: [1] },
      mockDecision: { decision: 1, confidence: 0.7 },
    });
    assert.deepEqual(trial.log().slice(2, -2), [
      'agent.reasoning.delta a',
      'agent.reasoning.delta a',
      'agent.reasoned a',
      'agent.toolCalled a',
      'agent.toolReturned a',
      'agent.toolCalled a',
      'agent.toolReturned a',
      'agent.handoff a',
      'agent.decided a',
    ]);
    assert.equal(trial.payload('agent.reasoned').reasoning, 'ab');
    assert.deepEqual(trial.outputs('a'), {});
    const called = trial.events.findIndex(({ type }) => type === 'agent.toolCalled');
    assert.equal(trial.events[called + 1]?.causationId, eventId('run-1', called));
    assert.deepEqual(trial.payload('agent.toolReturned', 1).error, { code: 'broken', message: 'It broke.' });
    assertSound(trial);
  });

  test('says as much as the run wants to hear', () => {
    const mockReasoning = { summary: 'short', trace: 'long', streamChunks: [] };
    const told = (reasoningVerbosity: string) =>
      play({ mockReasoning }, { reasoningVerbosity }).payload('agent.reasoned').reasoning;
    assert.deepEqual(['summary', 'full', 'off'].map(told), ['short', 'long', '']);
    assert.ok(play({ mockReasoning: true }).payload('agent.reasoned').reasoning);
  });

  const levels: [JsonObject, JsonObject, boolean][] = [
    [{ mockConfidence: 0.5 }, {}, true],
    [{ mockConfidence: 0.7 }, {}, false],
    [{ mockConfidence: 0.5 }, { escalationThreshold: 0.5 }, false],
    [{ mockDecision: { decision: 1, confidence: 0.9 } }, { escalationThreshold: 0.95 }, true],
    [{ mockDecision: { decision: 1 } }, {}, false],
  ];
  for (const [config, configurable, held] of levels)
    test(`is held by ${JSON.stringify([config, configurable])}: ${held}`, () => {
      const trial = play(config, configurable);
      assert.equal(statusOf(trial.plan, trial.run), held ? 'waiting-approval' : 'completed');
      assertSound(trial);
    });

  test('goes on once its decision is ratified, and not when it is rejected', () => {
    const trial = play({ mockConfidence: 0.2 });
    const at = trial.log().indexOf('agent.decided a');
    assert.equal(trial.log()[at + 1], 'node.suspended a');
    const { reason, agentId, threshold, observed } = trial.payload('node.suspended');
    assert.deepEqual([reason, agentId, threshold, observed], ['low-confidence', 'core.some.agent', 0.7, 0.2]);
    answer(trial, 'a', { action: 'accept' });
    assert.deepEqual(trial.outputs('a'), {});
    const rejected = play({ mockConfidence: 0.2 });
    answer(rejected, 'a', { action: 'reject' });
    assert.equal(rejected.run.error?.code, 'approval_rejected');
  });

  test('plays no more calls than the budget has, and goes on where it stopped', () => {
    const told = (trial: Trial) => trial.log().filter((each) => /toolCalled|budget|cap/.test(each));
    const failed = play({ mockToolCalls: calls }, { budget: { maxToolCalls: 1 } });
    assert.equal(failed.run.error?.code, 'budget_exhausted');
    assert.equal(failed.payload('cap.breached').kind, 'budget-tool-calls');
    assertSound(failed);
    const budget = { maxToolCalls: 1, onExhaustion: 'interrupt' };
    const trial = play({ mockToolCalls: calls, mockConfidence: 0.2 }, { budget });
    answer(trial, 'a', { action: 'accept' });
    assert.deepEqual(told(trial), [
      'budget.reserved',
      'agent.toolCalled a',
      'budget.consumed a',
      'budget.exhausted a',
      'budget.reserved a',
      'agent.toolCalled a',
      'budget.consumed a',
    ]);
    answer(trial, 'a', { action: 'accept' });
    assert.deepEqual(trial.outputs('a'), {});
    assertSound(trial);
    const rejected = play({ mockToolCalls: calls }, { budget });
    answer(rejected, 'a', { action: 'reject' });
    assert.equal(rejected.run.error?.code, 'budget_exhausted');
  });

  for (const config of [
    { more: 1 },
    { mockToolCalls: [{ toolId: 'x' }] },
    { mockToolCalls: [{ ...calls[0], ...calls[1] }] },
    { mockConfidence: 2 },
    { agentId: 'ab' },
  ] as JsonObject[])
    test(`wrong config: ${JSON.stringify(config)}`, () => assert.throws(() => play(config), DefinitionError));

  test('plays in conformance workflows only', () => {
    assert.throws(
      () => Trial.begin(workflow([node('a', TYPE)])),
      (error) =>
        error instanceof DefinitionError &&
        error.issues[0]?.details?.requiredCapability === 'conformance.mockAgent',
    );
  });
});
