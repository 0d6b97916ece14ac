/** Replays of runs that waited for people, for children, or for decisions. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Json, JsonObject, WorkflowDefinition } from '@gantry/protocol';
import { publicFixtures, skipWithoutPublicData } from '../../../protocol/src/testing/public-schemas.ts';
import { childRequests, DefinitionError, statusOf } from '../index.ts';
import { Family } from '../testing/family.ts';
import { branch, replay, told } from '../testing/forks.ts';
import { node, Trial, workflow } from '../testing/workflow.ts';

const APPROVAL = { title: 'Ship it?', artifactId: 'a', artifactType: 'text', actions: ['accept', 'reject'] };
const ann = { principal: 'ann', roles: [], scopes: ['approvals:respond'], authenticated: true };

function answer(trial: Trial, nodeId: string, resumeValue: Json): Trial {
  const { refusal } = trial.give({ type: 'resolve', now: trial.now, nodeId, resumeValue, by: ann });
  assert.equal(refusal, undefined);
  return trial.advance();
}

function assertReplays(trial: Trial, what: string): void {
  for (let fromSeq = 0; fromSeq <= trial.events.length; fromSeq++) {
    const { events, run, divergedAt } = replay(trial, fromSeq);
    const place = `${what} from ${fromSeq}`;
    assert.deepEqual(told(events, trial), told(trial.events, trial), place);
    assert.equal(divergedAt, undefined, place);
    assert.deepEqual([run.status, run.variables], [trial.run.status, trial.run.variables], place);
  }
}

describe('a replay of a run with a question', () => {
  const gate = (data: JsonObject = {}) =>
    workflow(
      [node('gate', 'core.approvalGate', { config: { ...APPROVAL, ...data } }), node('after')],
      ['gate>after'],
    );

  test('answers as it was answered', () => {
    const trial = Trial.begin(gate());
    trial.now += 60_000;
    answer(trial, 'gate', { action: 'accept', comment: 'good' });
    assert.equal(trial.run.status, 'completed');
    assertReplays(trial, 'accepted');
    assertReplays(answer(Trial.begin(gate()), 'gate', { action: 'reject' }), 'rejected');
  });

  test('counts the votes as they came', () => {
    const trial = Trial.begin(gate({ requiredApprovals: 2, distinctVoters: false }));
    answer(trial, 'gate', { action: 'accept', voter: 'bob', comment: 'seen' });
    answer(trial, 'gate', { action: 'accept', voter: 'eve', comment: 'seen too' });
    assert.equal(trial.run.status, 'completed');
    assert.equal(trial.events.filter(({ type }) => type === 'log.appended').length, 2);
    assertReplays(trial, 'quorum');
  });

  test('lets time answer as it did', () => {
    const trial = Trial.begin(gate({ timeoutMs: 100 }));
    trial.wake(trial.now + 100);
    assert.equal(trial.run.status, 'failed');
    assertReplays(trial, 'timeout');
  });

  test('that is still open waits too, a branch under a name of its own', () => {
    const trial = Trial.begin(gate());
    const { run, events } = replay(trial);
    assert.equal(events.length, trial.events.length);
    assert.equal(statusOf(trial.plan, run), 'waiting-approval');
    assert.equal(run.interrupts.get('gate')?.interruptId, 'run-1:gate:1');
    assert.equal(branch(trial, events.length).run.interrupts.get('gate')?.interruptId, 'fork-1:gate:1');
  });
});

describe('a replay of a run with children', () => {
  const child = (id: string) =>
    workflow([node('set', 'core.setVariable', { config: { name: 'out', value: `of ${id}` } })], [], {
      id,
      variables: [{ name: 'out', type: 'string' }],
    });
  const parent = workflow(
    [
      node('call', 'core.subWorkflow', { config: { workflowId: 'kid', outputMapping: { got: 'out' } } }),
      node('after'),
    ],
    ['call>after'],
    { variables: [{ name: 'got', type: 'string' }] },
  );

  test('starts none, and takes what they reported', () => {
    const family = new Family(parent, [child('kid')]).settle();
    assert.equal(family.parent.run.variables.got, 'of kid');
    assertReplays(family.parent, 'child');
    assert.deepEqual(childRequests(family.parent.plan, replay(family.parent).run), []);
  });

  test('a branch starts again those that had not ended', () => {
    const family = new Family(parent, [child('kid')]).start();
    const { run } = branch(family.parent, family.parent.events.length);
    assert.deepEqual(
      childRequests(family.parent.plan, run).map(({ workflowId }) => workflowId),
      ['kid'],
    );
  });
});

describe('public fixtures', { skip: skipWithoutPublicData }, () => {
  const fixtures = [...publicFixtures().values()] as WorkflowDefinition[];

  /** Fixtures of parts that are not served are no subject here. */
  function live(definition: WorkflowDefinition): Trial | undefined {
    try {
      return new Family(definition, fixtures).settle().parent;
    } catch (error) {
      if (error instanceof DefinitionError) return;
      throw error;
    }
  }

  test('replay from any event, ended or waiting', () => {
    let replayed = 0;
    for (const definition of fixtures) {
      const trial = live(definition);
      if (!trial) continue;
      assertReplays(trial, definition.id);
      replayed++;
    }
    assert.ok(replayed > 20, `only ${replayed} fixtures`);
  });
});
