import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { WorkflowDefinition } from '@gantry/protocol';
import { publicFixtures, skipWithoutPublicData } from '../../../protocol/src/testing/public-schemas.ts';
import { snapshot, statusOf } from '../index.ts';
import { Family, phasesOf } from '../testing/family.ts';

const fixtures = new Map(
  [...publicFixtures()].map(([file, doc]) => [file.replace('.json', ''), doc as WorkflowDefinition]),
);
const read = (name: string): WorkflowDefinition => fixtures.get(`conformance-${name}`)!;
const begin = (name: string): Family => new Family(read(name), [...fixtures.values()]);
const play = (name: string): Family => begin(name).settle();

const variablesOf = (family: Family, workflow: string, nth = 0) => {
  const { plan, run } = family.of(`conformance-${workflow}`)[nth]!;
  return snapshot(plan, run).variables;
};
const inputsOf = (family: Family, workflow: string, nth = 0) =>
  family.of(`conformance-${workflow}`)[nth]!.run.facts.inputs;

describe('public fixtures with children', { skip: skipWithoutPublicData }, () => {
  test('those that nobody has to answer complete', () => {
    const names = [
      'subworkflow-parent',
      'subworkflow-input-mapping',
      'subworkflow-input-mapping-no-default',
      'dispatch-loop',
      'dispatch-input-mapping',
      'dispatch-input-mapping-no-default',
      'dispatch-output-mapping',
      'dispatch-cross-worker-handoff',
      'dispatch-per-worker-override',
      'orchestrator-dispatch',
      'orchestrator-terminate',
      'multi-agent-handoff',
    ];
    for (const name of names) assert.equal(play(name).parent.run.status, 'completed', name);
  });

  test('subworkflow-parent gets what its child has', () => {
    const { parent } = play('subworkflow-parent');
    assert.equal(parent.run.variables.childOutcome, 'child-completed');
    assert.deepEqual(parent.outputs('subwf-call'), {
      childRunId: 'subwf-call-1-0',
      childStatus: 'completed',
    });
  });

  test('subworkflow-input-mapping sets the variable, or leaves it unset whatever its default', () => {
    const child = 'subworkflow-input-mapping-child';
    assert.deepEqual(variablesOf(play('subworkflow-input-mapping'), child), { receivedPrdId: 'prd-1' });
    assert.deepEqual(variablesOf(play('subworkflow-input-mapping-no-default'), child), {});
  });

  test('a child that waits keeps what it was given, and ends with its parent', () => {
    const family = begin('subworkflow-mid-run-mutation').settle();
    const child = 'subworkflow-mid-run-mutation-child';
    assert.deepEqual(variablesOf(family, child), { receivedPrdId: 'seeded-id' });
    assert.equal(statusOf(family.parent.plan, family.parent.run), 'running');
    const cascaded = begin('interrupt-parent-child-cancel').settle().cancel();
    assert.equal(cascaded.parent.run.status, 'cancelled');
    assert.deepEqual(cascaded.cancelled, [
      cascaded.of(`conformance-interrupt-parent-child-cancel-child`)[0]!.run.facts.runId,
    ]);
  });

  test('dispatch-loop decides exactly twice', () => {
    const { parent } = play('dispatch-loop');
    const decisions = parent.events.filter(({ type }) => type === 'runOrchestrator.decided');
    assert.deepEqual(
      decisions.map(({ payload }) => payload.decision),
      [{ kind: 'next-worker', nextWorkerIds: ['conformance-noop'] }, { kind: 'terminate' }],
    );
  });

  test('dispatch mappings reach the child and come back', () => {
    const child = 'dispatch-input-mapping-child';
    assert.deepEqual(inputsOf(play('dispatch-input-mapping'), child), { childGreeting: 'Alice' });
    assert.deepEqual(inputsOf(play('dispatch-input-mapping-no-default'), child), {});
    assert.equal(play('dispatch-output-mapping').parent.run.variables.parentResult, 'done');
    const handoff = play('dispatch-cross-worker-handoff');
    assert.deepEqual(inputsOf(handoff, 'dispatch-cross-worker-handoff-child-b'), { input: 'hello' });
    const override = play('dispatch-per-worker-override');
    assert.deepEqual(inputsOf(override, 'dispatch-cross-worker-handoff-child-a'), {
      input: 'default-x-value',
    });
    assert.deepEqual(inputsOf(override, 'dispatch-cross-worker-handoff-child-b'), { input: 'shared-value' });
  });

  test('multi-agent-handoff passes four phases', () => {
    const { parent } = play('multi-agent-handoff');
    assert.deepEqual(phasesOf(parent), [
      'dispatch.began',
      'dispatch.succeeded',
      'child.completed',
      'output.harvested',
    ]);
    assert.equal(parent.run.variables.parentResult, 'handoff-complete');
    assert.equal(parent.run.outputs?.reason, 'goal-reached');
  });

  test('orchestrator-low-confidence holds, then decides what was ratified', () => {
    const family = begin('orchestrator-low-confidence');
    const { parent } = family;
    assert.equal(statusOf(parent.plan, parent.run), 'waiting-approval');
    assert.ok(!parent.log().includes('runOrchestrator.decided supervisor'));
    assert.equal(parent.payload('node.suspended').agentId, 'core.conformance.low-conf-supervisor');
    const decision = { kind: 'terminate', reason: 'ratified' };
    family.answer('supervisor', decision);
    assert.deepEqual(parent.payload('runOrchestrator.decided').decision, decision);
    assert.equal(parent.run.status, 'completed');
  });

  test('multi-agent-confidence-escalation asks before anything is dispatched', () => {
    const family = begin('multi-agent-confidence-escalation');
    const { parent } = family;
    assert.equal(statusOf(parent.plan, parent.run), 'waiting-approval');
    assert.equal(parent.payload('core.workflowChain.confidence-escalated').confidence, 0.3);
    assert.deepEqual(phasesOf(parent), []);
    family.answer('supervisor', { action: 'accept' });
    assert.equal(parent.run.status, 'completed');
    assert.equal(phasesOf(parent)[0], 'dispatch.began');
  });
});
