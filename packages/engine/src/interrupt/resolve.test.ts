import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '@gantry/protocol';
import { statusOf } from '../index.ts';
import { answer, assertSound, key, link, refusalOf } from '../testing/answers.ts';
import { node, Trial, workflow } from '../testing/workflow.ts';

const gate = (config: JsonObject = {}) => workflow([node('gate', 'core.approvalGate', { config })]);
const open = (config: JsonObject = {}) => Trial.begin(gate(config));
const accept = { action: 'accept' };

describe('whether there is such a question', () => {
  test('never asked', () => {
    const trial = Trial.begin(workflow([node('a'), node('gate', 'core.approvalGate')]));
    assert.equal(refusalOf(trial, 'a', accept), 'interrupt_not_found');
    for (const nodeId of ['nowhere', 'constructor', '__proto__', ''])
      assert.equal(refusalOf(trial, nodeId, accept), 'interrupt_not_found');
  });

  test('answered before, or another question of the node', () => {
    const trial = open();
    const { interruptId } = trial.run.interrupts.get('gate')!;
    const stale = { type: 'resolve', now: 1, nodeId: 'gate', resumeValue: accept, by: key() } as const;
    const other = trial.give({ ...stale, interruptId: 'run-1:gate:0' });
    assert.equal(other.refusal?.code, 'interrupt_already_resolved');
    trial.give({ ...stale, interruptId });
    assert.equal(refusalOf(trial, 'gate', accept), 'interrupt_already_resolved');
    trial.advance();
    assert.equal(refusalOf(trial, 'gate', { action: 'reject' }), 'interrupt_already_resolved');
    assertSound(trial);
  });

  test('cancelled with its run, or from above', () => {
    const direct = open();
    direct.give({ type: 'cancel', now: direct.now });
    assert.equal(refusalOf(direct, 'gate', accept), 'interrupt_cancelled');
    const child = open();
    child.give({ type: 'cancel', now: child.now, parentRunId: 'run-0' });
    assert.equal(refusalOf(child, 'gate', accept), 'interrupt_gone');
    assertSound(child);
  });

  test('one that was answered stays answered when the run is cancelled later', () => {
    const trial = Trial.begin(
      workflow([node('gate', 'core.approvalGate'), node('next', 'core.approvalGate')], ['gate>next']),
    );
    answer(trial, 'gate', accept);
    trial.advance().give({ type: 'cancel', now: trial.now });
    assert.equal(refusalOf(trial, 'gate', accept), 'interrupt_already_resolved');
    assert.equal(refusalOf(trial, 'next', accept), 'interrupt_cancelled');
  });

  test('ended together with a run that failed', () => {
    const slow = node('slow', 'core.delay', { config: { ms: 5 } });
    const trial = Trial.begin(
      workflow([slow, node('bad', 'core.fail'), node('gate', 'core.approvalGate')], ['slow>bad']),
    );
    trial.wake(2_000);
    assert.equal(trial.run.status, 'failed');
    assert.equal(refusalOf(trial, 'gate', accept), 'run_terminal');
  });
});

describe('whether it takes answers now', () => {
  test('not while the run is paused', () => {
    const trial = open();
    trial.give({ type: 'pause', now: trial.now, drainPolicy: 'drain-current-node' });
    assert.equal(refusalOf(trial, 'gate', accept), 'conflict');
    trial.give({ type: 'resume', now: trial.now });
    assert.equal(refusalOf(trial, 'gate', accept), undefined);
  });

  test('not when its deadline has ended it', () => {
    const trial = open({ timeoutMs: 500 });
    trial.wake(10_000);
    assert.equal(refusalOf(trial, 'gate', accept), 'interrupt_expired');
    assertSound(trial);
  });

  test('not when its time is over, even before the clock has said so', () => {
    const trial = open({ timeoutMs: 500 });
    trial.now += 500;
    assert.equal(refusalOf(trial, 'gate', accept), 'interrupt_expired');
    assert.equal(trial.status('gate'), 'suspended');
  });

  test('not when the time of the run is over: the run ends, and the answer does not count', () => {
    const trial = open();
    trial.now += 3_600_001;
    const { refusal, events } = answer(trial, 'gate', accept);
    assert.equal(refusal?.code, 'run_terminal');
    assert.equal(events.at(-1)?.type, 'run.failed');
    assertSound(trial);
  });
});

describe('who may answer', () => {
  const cases: [string, JsonObject, ReturnType<typeof key>, string | undefined][] = [
    ['anyone, when nobody is named', { approversList: [] }, link, undefined],
    [
      'not by link where a credential is wanted',
      { profile: 'openwop-interrupt-auth-required' },
      link,
      'unauthenticated',
    ],
    ['by key where a credential is wanted', { profile: 'openwop-interrupt-auth-required' }, key(), undefined],
    ['not someone else than the named', { approversList: ['ann'] }, key(), 'forbidden'],
    ['the named', { approversList: ['ann'] }, key('ann'), undefined],
    ['not without the role', { approverRoleRefs: ['lead'] }, key('ann', { roles: ['dev'] }), 'forbidden'],
    ['by role', { approverRoleRefs: ['lead'] }, key('ann', { roles: ['lead'] }), undefined],
    ['not without the group', { approverGroupRefs: ['board'] }, key(), 'forbidden'],
    ['by group', { approverGroupRefs: ['board'] }, key('ann', { groups: ['board'] }), undefined],
  ];
  for (const [name, config, by, refusal] of cases)
    test(name, () => {
      const trial = open(config);
      assert.equal(refusalOf(trial, 'gate', accept, by), refusal);
      assert.equal(trial.status('gate'), refusal === undefined ? 'completed' : 'suspended');
      assertSound(trial);
    });

  test('nothing is said about the answer to someone who may not give it', () => {
    const trial = open({ approversList: ['ann'], actions: ['accept'] });
    for (const value of [{ action: 'dance' }, null, { action: 'reject' }])
      assert.equal(refusalOf(trial, 'gate', value), 'forbidden');
  });

  test('audience is told, not asked', () => {
    const audience = { roles: ['lead'] };
    const trial = open({ audience });
    assert.deepEqual(trial.payload('interrupt.requested').data, {
      artifactId: 'run-1:gate:1',
      artifactType: 'approval',
      title: 'gate',
      actions: ['accept', 'reject'],
      audience,
    });
    assert.equal(refusalOf(trial, 'gate', accept), undefined);
  });
});

test('a run waits only when nothing else can move', () => {
  const slow = node('slow', 'core.delay', { config: { ms: 50 } });
  const trial = Trial.begin(workflow([node('gate', 'core.approvalGate'), slow]));
  assert.equal(statusOf(trial.plan, trial.run), 'running');
  trial.wake(1_050);
  assert.equal(statusOf(trial.plan, trial.run), 'waiting-approval');
});

test('ids of nodes may be of any length, keys may not', () => {
  const id = 'n'.repeat(1_000);
  const trial = Trial.begin(workflow([node(id, 'core.approvalGate')]));
  assert.ok(trial.run.interrupts.get(id)!.key.length <= 256);
  assert.equal(refusalOf(trial, id, accept), undefined);
  assertSound(trial);
});

test('a replay asks under the ids of its source', () => {
  const fork = { sourceRunId: 'run-0', fromSeq: 0, mode: 'replay' } as const;
  const trial = Trial.begin(gate(), { fork });
  assert.equal(trial.run.interrupts.get('gate')?.key, 'run-0:gate:1');
});
