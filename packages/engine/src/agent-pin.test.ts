import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '@gantry/protocol';
import { DefinitionError, snapshot } from './index.ts';
import { assertSound } from './testing/answers.ts';
import { effect, node, Trial, workflow } from './testing/workflow.ts';

const ann = { agentId: 'core.some.ann', modelClass: 'chat' };
const bob = { agentId: 'core.some.bob' };
const agentOf = (trial: Trial) => snapshot(trial.plan, trial.run).agent;

describe('an agent pinned to a node', () => {
  test('is whose identity the run bears, from its node on', () => {
    const trial = Trial.begin(workflow([node('a'), effect('b', { agent: ann }), node('c')], ['a>b', 'b>c']));
    assert.deepEqual(agentOf(trial), ann);
    trial.succeed('b');
    assert.equal(trial.run.status, 'completed');
    assert.deepEqual(agentOf(trial), ann);
    assertSound(trial);
  });

  test('hands over to the next, before that one starts, and not to itself', () => {
    const pins = [ann, ann, bob];
    const nodes = pins.map((agent, index) => node(`n${index}`, 'core.noop', { agent }));
    const trial = Trial.begin(workflow(nodes, ['n0>n1', 'n1>n2']));
    const handoffs = trial.events.filter(({ type }) => type === 'agent.handoff');
    assert.deepEqual(
      handoffs.map(({ payload }) => payload),
      [{ fromAgentId: 'core.some.ann', toAgentId: 'core.some.bob' }],
    );
    const log = trial.log();
    assert.equal(log.indexOf('agent.handoff n2') + 1, log.indexOf('node.started n2'));
    assert.deepEqual(agentOf(trial), bob);
    assertSound(trial);
  });

  test('no pin, no agent', () => {
    assert.equal(agentOf(Trial.begin(workflow([node('a')]))), undefined);
  });

  const wrong: JsonObject[] = [
    {},
    { agentId: 'ab' },
    { ...bob, mood: 'good' },
    { ...bob, modelClass: 'poet' },
    { ...bob, version: '1', channel: 'stable' },
    { ...bob, channel: 'stable' },
  ];
  for (const agent of wrong)
    test(`is refused: ${JSON.stringify(agent)}`, () => {
      assert.throws(
        () => Trial.begin(workflow([node('a', 'core.noop', { agent })])),
        (error) => error instanceof DefinitionError && error.issues[0]?.code === undefined,
      );
    });
});
