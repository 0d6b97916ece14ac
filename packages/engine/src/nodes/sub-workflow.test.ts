import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject, WorkflowVariable } from '@gantry/protocol';
import { compile, DefinitionError, statusOf } from '../index.ts';
import { chainOf, Family } from '../testing/family.ts';
import { edge, node, workflow } from '../testing/workflow.ts';

const variables: WorkflowVariable[] = [
  { name: 'result', type: 'string', defaultValue: 'made' },
  { name: 'secret', type: 'string', defaultValue: 'hush', sensitive: true },
];
const worker = workflow([node('work')], [], { id: 'worker', variables });
const broken = workflow([node('break', 'core.fail')], [], { id: 'broken', variables });
const waiting = workflow([node('wait', 'core.delay', { config: { delayMs: 10_000 } })], [], {
  id: 'waiting',
});

const parentOf = (config: JsonObject, extras: Parameters<typeof workflow>[2] = {}) =>
  workflow(
    [node('call', 'core.subWorkflow', { config: { workflowId: 'worker', ...config } }), node('after')],
    ['call>after'],
    extras,
  );
const play = (config: JsonObject, extras = {}) =>
  new Family(parentOf(config, extras), [worker, broken, waiting]).settle();

function problems(config: JsonObject, options = {}): string {
  try {
    compile(parentOf(config), options);
    return '';
  } catch (error) {
    assert.ok(error instanceof DefinitionError);
    return error.message;
  }
}

describe('core.subWorkflow', () => {
  test('a failed child fails its parent, or is absorbed', () => {
    const failing = play({ workflowId: 'broken', outputMapping: { got: 'result' } }).parent;
    assert.equal(failing.run.error?.code, 'child_failed');
    assert.equal(failing.run.error?.details?.childRunId, 'call-1-0');
    const absorbed = play({
      workflowId: 'broken',
      outputMapping: { got: 'result' },
      onChildFailure: 'absorb',
    }).parent;
    assert.equal(absorbed.run.status, 'completed');
    assert.equal(absorbed.outputs('call')?.childStatus, 'failed');
    assert.equal(absorbed.run.variables.got, undefined);
  });

  test('a child that does not exist fails under its own code', () => {
    const { parent } = play({ workflowId: 'nowhere' });
    assert.equal(parent.run.error?.code, 'unknown_child_workflow');
    assert.deepEqual(
      chainOf(parent).map(({ phase }) => phase),
      ['dispatch.began', 'dispatch.failed'],
    );
  });

  test('a failed child is tried again as often as the node says', () => {
    const retrying = parentOf({ workflowId: 'broken' });
    retrying.nodes[0] = { ...retrying.nodes[0]!, settings: { maxRetries: 1, backoffMs: 5 } };
    const family = new Family(retrying, [broken]).settle();
    assert.equal(family.parent.status('call'), 'retrying');
    family.parent.wake(family.parent.now + 5);
    family.settle();
    assert.equal(family.parent.run.error?.code, 'child_failed');
    assert.equal(chainOf(family.parent).filter(({ phase }) => phase === 'child.failed').length, 2);
  });

  test('outputs go to declared and undeclared variables, missing ones nowhere, wrong ones fail', () => {
    const mapped = play(
      { outputMapping: { got: 'result', kept: 'nothing' } },
      {
        variables: [{ name: 'kept', type: 'string', defaultValue: 'old' }],
      },
    ).parent;
    assert.deepEqual(mapped.run.variables, { kept: 'old', got: 'made' });
    assert.deepEqual(chainOf(mapped).at(-1)?.harvestedKeys, ['got']);
    const wrong = play(
      { outputMapping: { got: 'result' } },
      {
        variables: [{ name: 'got', type: 'number' }],
      },
    ).parent;
    assert.equal(wrong.run.error?.code, 'variable_type_mismatch');
  });

  test('a failure can be handled like any other', () => {
    const handled = workflow(
      [node('call', 'core.subWorkflow', { config: { workflowId: 'broken' } }), node('plan-b')],
      [edge('call>plan-b', { triggerRule: 'any_failed' })],
    );
    assert.equal(new Family(handled, [broken]).settle().parent.run.status, 'completed');
  });

  test('config is checked when the definition is compiled', () => {
    assert.match(problems({ workflowId: 7 }), /workflowId/);
    assert.match(problems({ waitForCompletion: false }), /waitForCompletion/);
    assert.match(problems({ onChildFailure: 'shrug' }), /onChildFailure/);
    assert.match(problems({ inputMapping: { a: 7 } }), /inputMapping\/a/);
    assert.match(problems({ outputMapping: { constructor: 'a' } }), /reserved/);
    assert.match(problems({ outputAttestation: { algorithm: 'md5' } }), /sha256/);
    assert.match(problems({ outputAttestation: { checksum: true } }), /checksums/);
    assert.equal(problems({ outputAttestation: { checksum: true } }, { sha256: () => 'x' }), '');
  });
});

describe('outputAttestation', () => {
  const outputMapping = { got: 'result', hidden: 'secret' };

  test('the checksum is that of the canonical outputs, on the event and on the node', () => {
    const { parent } = play({ outputMapping, outputAttestation: { checksum: true } });
    const attestation = { checksum: 'digest of {"result":"made","secret":"hush"}', algorithm: 'sha256' };
    assert.deepEqual(chainOf(parent).at(-1)?.attestation, attestation);
    assert.deepEqual(parent.outputs('call')?.attestation, attestation);
  });

  test('nothing is merged before someone accepts, and hidden values stay hidden', () => {
    const family = play({ outputMapping, outputAttestation: { requireApproval: true } });
    const { parent } = family;
    assert.equal(statusOf(parent.plan, parent.run), 'waiting-approval');
    assert.equal(parent.run.variables.got, undefined);
    const data = parent.payload('interrupt.requested').data as JsonObject;
    assert.deepEqual(data.artifactData, { result: 'made', secret: 'hush' });
    family.answer('call', { action: 'accept' });
    assert.deepEqual(parent.run.variables, { got: 'made', hidden: 'hush' });
    assert.equal(parent.run.status, 'completed');
  });

  test('what the child keeps from readers is masked, and an edit that leaves it so keeps the value', () => {
    const config = { outputMapping, outputAttestation: { requireApproval: true } };
    const declared = {
      variables: [{ name: 'hidden', type: 'string', sensitive: true }] as WorkflowVariable[],
    };
    const family = new Family(parentOf(config, declared), [worker]).start();
    family.report('call-1-0', { variables: { result: 'made', secret: 'hush' }, sensitive: ['secret'] });
    const { parent } = family;
    const { artifactData } = parent.payload('interrupt.requested').data as JsonObject;
    assert.deepEqual(artifactData, { result: 'made', secret: '[REDACTED]' });
    const editedArtifactData = { result: 'better', secret: '[REDACTED]' };
    family.answer('call', { action: 'edit-accept', editedArtifactData });
    assert.deepEqual(parent.run.variables, { got: 'better', hidden: 'hush' });
    assert.ok(!JSON.stringify(parent.events.map(({ payload }) => payload)).includes('hush'));
  });

  test('a hidden value is not merged into a variable that anyone may read', () => {
    const family = new Family(parentOf({ outputMapping }), [worker]).start();
    family.report('call-1-0', { variables: { secret: 'hush' }, sensitive: ['secret'] });
    assert.equal(family.parent.run.error?.code, 'validation_error');
    assert.ok(!JSON.stringify(family.parent.events.map(({ payload }) => payload)).includes('hush'));
  });

  test('a rejection goes the way of failures, and merges nothing', () => {
    for (const onChildFailure of ['fail-parent', 'absorb']) {
      const config = { outputMapping, onChildFailure, outputAttestation: { requireApproval: true } };
      const { parent } = play(config).answer('call', { action: 'reject' });
      assert.equal(parent.run.variables.got, undefined);
      if (onChildFailure === 'absorb') assert.equal(parent.outputs('call')?.merged, false);
      else assert.equal(parent.run.error?.code, 'approval_rejected');
    }
  });
});
