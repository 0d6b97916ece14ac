import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Json, JsonObject } from '@gantry/protocol';
import { wakeAt } from '../index.ts';
import { answer, assertSound, key, refusalOf } from '../testing/answers.ts';
import { edge, fixed, node, Trial, workflow } from '../testing/workflow.ts';

const ALL = ['accept', 'reject', 'refine', 'edit-accept', 'ask'];
const gate = (config: JsonObject = {}) =>
  Trial.begin(workflow([node('gate', 'core.approvalGate', { config: { actions: ALL, ...config } })]));
const DECIDED = { decidedBy: 'key-1', decidedAt: '1970-01-01T00:00:01.000Z' };
const whole = { scope: 'whole', text: 'shorter' };

describe('what an answer makes of the gate', () => {
  const cases: [string, Json, JsonObject][] = [
    ['accept', { action: 'accept', comment: 'fine' }, { action: 'accept', comment: 'fine', approved: true }],
    [
      'refine',
      { action: 'refine', refineFeedback: whole },
      { action: 'refine', refineFeedback: whole, approved: false },
    ],
    [
      'refine in the older words',
      { action: 'refine', refineFeedback: 'shorter' },
      { action: 'refine', refineFeedback: whole, approved: false },
    ],
    [
      'edit-accept',
      { action: 'edit-accept', editedArtifactData: [1] },
      { action: 'edit-accept', editedArtifactData: [1], approved: true },
    ],
    [
      'null is data too',
      { action: 'edit-accept', editedArtifactData: null },
      { action: 'edit-accept', editedArtifactData: null, approved: true },
    ],
    ['approved', { action: 'approved' }, { action: 'accept', approved: true }],
    ['approved, as a word', 'approved', { action: 'accept', approved: true }],
    [
      'rejected with feedback',
      { status: 'rejected', feedback: 'shorter' },
      { action: 'refine', feedback: 'shorter', refineFeedback: whole, approved: false },
    ],
    [
      'who decides is not up to the caller',
      { action: 'accept', decidedBy: 'the-boss' },
      { action: 'accept', approved: true },
    ],
  ];
  for (const [name, value, outputs] of cases)
    test(name, () => {
      const trial = gate();
      assert.equal(refusalOf(trial, 'gate', value), undefined);
      trial.advance();
      assert.deepEqual(trial.outputs('gate'), { ...outputs, ...DECIDED });
      assert.deepEqual(trial.log().slice(2), [
        'node.suspended gate',
        'interrupt.requested gate',
        'approval.requested gate',
        'interrupt.resolved gate',
        'approval.received gate',
        'node.resumed gate',
        'node.completed gate',
        'run.completed',
      ]);
      const { action, decidedBy } = trial.payload('approval.received');
      assert.deepEqual([action, decidedBy], [outputs.action, 'key-1']);
      assertSound(trial);
    });

  for (const value of [{ action: 'reject', feedback: 'no' }, { action: 'reject' }, 'rejected'] as Json[])
    test(`a rejection fails it: ${JSON.stringify(value)}`, () => {
      const trial = gate();
      answer(trial, 'gate', value);
      assert.equal(trial.run.error?.code, 'approval_rejected');
      assert.equal(trial.payload('interrupt.resolved').outcome, 'rejected');
      assert.equal(trial.payload('approval.received').action, 'reject');
      assertSound(trial);
    });
});

describe('what is not taken', () => {
  const cases: [Json, string][] = [
    [{ action: 'dance' }, '/resumeValue/action'],
    [null, '/resumeValue/action'],
    [{}, '/resumeValue/action'],
    [{ action: 'override', reason: 'x' }, '/resumeValue/action'],
    [{ action: 'refine' }, '/resumeValue/refineFeedback'],
    [{ action: 'refine', feedback: 'text alone' }, '/resumeValue/refineFeedback'],
    [{ action: 'refine', refineFeedback: { scope: 'all' } }, '/resumeValue/refineFeedback/scope'],
    [{ action: 'edit-accept' }, '/resumeValue/editedArtifactData'],
    [{ action: 'ask' }, '/resumeValue/question'],
    [{ action: 'accept', comment: 1 }, '/resumeValue/comment'],
  ];
  for (const [value, path] of cases)
    test(JSON.stringify(value), () => {
      const trial = gate();
      const { refusal, events } = answer(trial, 'gate', value);
      assert.deepEqual([refusal?.code, refusal?.details?.path], ['validation_error', path]);
      assert.deepEqual(events, []);
      assert.equal(refusalOf(trial, 'gate', { action: 'accept' }), undefined);
    });

  test('an action that is not offered, or a value outside the schema', () => {
    const trial = gate({ actions: ['accept', 'reject'], resumeSchema: { required: ['comment'] } });
    assert.equal(
      refusalOf(trial, 'gate', { action: 'refine', refineFeedback: whole, comment: '' }),
      'validation_error',
    );
    assert.equal(refusalOf(trial, 'gate', { action: 'accept' }), 'validation_error');
    assert.equal(refusalOf(trial, 'gate', { action: 'accept', comment: '' }), undefined);
  });
});

test('asking back keeps the question open and collects, within bounds', () => {
  const trial = gate();
  for (let i = 0; i < 60; i++) answer(trial, 'gate', { action: 'ask', question: `why ${i}?` });
  const exchanges = trial.run.variables['_askExchanges:gate'] as JsonObject[];
  assert.equal(exchanges.length, 50);
  assert.equal(exchanges.at(-1)?.question, 'why 59?');
  assert.equal(trial.status('gate'), 'suspended');
  assert.ok(!trial.log().includes('approval.received gate'));
  assertSound(trial);
});

describe('time', () => {
  test('always rejects', () => {
    const trial = gate({ timeoutMs: 500 });
    assert.equal(wakeAt(trial.plan, trial.run), 1_500);
    trial.wake(1_499);
    assert.equal(trial.status('gate'), 'suspended');
    trial.wake(1_500);
    assert.deepEqual(
      [trial.run.error?.code, trial.run.error?.details?.reason],
      ['approval_rejected', 'timeout'],
    );
    const { outcome, reason, resumeValue } = trial.payload('interrupt.resolved');
    assert.deepEqual([outcome, reason, resumeValue], ['rejected', 'timeout', undefined]);
    assert.equal(trial.payload('approval.received').action, 'timeout');
    assert.ok(trial.payload('approval.received').decidedBy);
    assertSound(trial);
  });

  test('does not count against the limit of the author', () => {
    const definition = workflow([node('gate', 'core.approvalGate')], [], { settings: { timeout: 1_000 } });
    const trial = Trial.begin(definition);
    trial.now += 60_000;
    assert.equal(refusalOf(trial, 'gate', 'approved'), undefined);
  });
});

describe('after a rejection', () => {
  test('an any_failed edge deals with it', () => {
    const trial = Trial.begin(
      workflow(
        [node('gate', 'core.approvalGate'), node('go'), node('stop')],
        ['gate>go', edge('gate>stop', { triggerRule: 'any_failed' })],
      ),
    );
    answer(trial, 'gate', 'rejected');
    trial.advance();
    assert.equal(trial.run.status, 'completed');
    assert.deepEqual([trial.status('go'), trial.status('stop')], ['skipped', 'completed']);
  });

  test('a loop asks again, under a new key', () => {
    const trial = Trial.begin(
      workflow(
        [node('draft'), node('gate', 'core.approvalGate'), node('revise'), node('publish')],
        ['draft>gate', 'gate>publish', edge('gate>revise', { triggerRule: 'any_failed' }), 'revise>draft'],
      ),
    );
    const first = trial.run.interrupts.get('gate')?.interruptId;
    answer(trial, 'gate', 'rejected');
    trial.advance();
    const second = trial.run.interrupts.get('gate')?.interruptId;
    assert.notEqual(second, first);
    const stale = {
      type: 'resolve',
      now: trial.now,
      nodeId: 'gate',
      resumeValue: 'approved',
      by: key(),
    } as const;
    assert.equal(trial.give({ ...stale, interruptId: first! }).refusal?.code, 'interrupt_already_resolved');
    answer(trial, 'gate', 'approved');
    trial.advance();
    assert.equal(trial.run.status, 'completed');
    assertSound(trial);
  });

  test('routing by the decision', () => {
    const refined = { type: 'equals', left: 'output.action', right: 'refine' } as const;
    const trial = Trial.begin(
      workflow(
        [node('gate', 'core.approvalGate', { config: { actions: ALL } }), node('go'), node('again')],
        [
          edge('gate>go', { condition: { type: 'truthy', left: 'output.approved' } }),
          edge('gate>again', { condition: refined }),
        ],
      ),
    );
    answer(trial, 'gate', { action: 'refine', refineFeedback: whole });
    trial.advance();
    assert.deepEqual([trial.status('go'), trial.status('again')], ['skipped', 'completed']);
  });
});

test('what comes in as artifactData is shown; what the author calls sensitive is not', () => {
  const trial = Trial.begin(
    workflow([
      node('gate', 'core.approvalGate', {
        config: { actions: ALL },
        inputs: { artifactData: fixed({ text: 'draft' }) },
        outputSensitivity: { editedArtifactData: true },
      }),
    ]),
  );
  assert.deepEqual((trial.payload('interrupt.requested').data as JsonObject).artifactData, { text: 'draft' });
  answer(trial, 'gate', { action: 'edit-accept', editedArtifactData: 'hidden' });
  assert.equal(trial.outputs('gate')?.editedArtifactData, 'hidden');
  for (const { payload } of trial.events) assert.ok(!JSON.stringify(payload).includes('hidden'));
  assertSound(trial);
});

describe('gates that could never open are refused', () => {
  const cases: [string, JsonObject][] = [
    ['no actions', { actions: [] }],
    ['unknown action', { actions: ['shrug'] }],
    ['more approvals than approvers', { requiredApprovals: 3, approversList: ['a', 'b', 'b'] }],
    ['editing what others approved', { requiredApprovals: 2 }],
    ['a timeout that is none', { timeoutMs: 'soon' }],
    ['a schema that is none', { resumeSchema: 'x' }],
  ];
  for (const [name, config] of cases) test(name, () => assert.throws(() => gate(config)));
});
