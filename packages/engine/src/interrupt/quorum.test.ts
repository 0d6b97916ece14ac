import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '@gantry/protocol';
import fc from 'fast-check';
import { propertyRuns } from '../../../protocol/src/testing/property-runs.ts';
import { answer, assertSound, key, link, refusalOf } from '../testing/answers.ts';
import { node, Trial, workflow } from '../testing/workflow.ts';

const gate = (config: JsonObject) =>
  Trial.begin(workflow([node('gate', 'core.approvalGate', { config: { requiredApprovals: 3, ...config } })]));

describe('a quorum', () => {
  test('counts the people that one key names, where the gate allows it', () => {
    const trial = gate({ distinctVoters: false });
    for (const voter of ['ann', 'bob']) {
      assert.equal(answer(trial, 'gate', { action: 'accept', voter }).events.length, 1);
      assert.equal(trial.status('gate'), 'suspended');
    }
    assert.deepEqual(trial.payload('approval.granted', 1), {
      gateId: 'gate',
      principal: 'key-1/bob',
      quorumProgress: { granted: 2, required: 3 },
    });
    answer(trial, 'gate', { action: 'accept', voter: 'cy' });
    assert.equal(trial.outputs('gate')?.decidedBy, 'quorum:3-of-3');
    assertSound(trial);
  });

  test('takes the same vote again without counting it, and no vote back', () => {
    const trial = gate({});
    answer(trial, 'gate', 'approved');
    const again = answer(trial, 'gate', 'approved');
    assert.deepEqual([again.events, again.refusal], [[], undefined]);
    assert.equal(refusalOf(trial, 'gate', 'rejected'), 'conflict');
    assert.equal(trial.run.interrupts.get('gate')?.votes.length, 1);
  });

  test('counts principals unless it says otherwise: a key votes for itself, a link for the person it was made for', () => {
    const trial = gate({ requiredApprovals: 2 });
    assert.equal(refusalOf(trial, 'gate', { action: 'accept', voter: 'ann' }), 'forbidden');
    assert.equal(refusalOf(trial, 'gate', 'approved', link), 'forbidden');
    assert.equal(refusalOf(trial, 'gate', 'approved'), undefined);
    answer(trial, 'gate', 'approved', { ...link, principal: 'ann', named: true });
    assert.equal(trial.outputs('gate')?.decidedBy, 'quorum:2-of-2');
    assertSound(trial);
  });

  test('one rejection is a veto, unless a majority is asked for', () => {
    const veto = gate({});
    answer(veto, 'gate', { action: 'reject', reason: 'early' });
    assert.equal(veto.run.error?.code, 'approval_rejected');
    assert.deepEqual(veto.payload('approval.rejected'), {
      gateId: 'gate',
      principal: 'key-1',
      reason: 'early',
    });
    const majority = gate({ rejectionPolicy: 'majority', distinctVoters: false });
    answer(majority, 'gate', { action: 'reject', voter: 'ann' });
    assert.equal(majority.status('gate'), 'suspended');
    answer(majority, 'gate', { action: 'reject', voter: 'bob' });
    assert.equal(majority.run.error?.details?.decidedBy, 'quorum:2-of-3');
    assertSound(majority);
  });

  test('ends when nobody is left who could bring it about', () => {
    const trial = gate({ rejectionPolicy: 'majority', approversList: ['a', 'b', 'c'] });
    answer(trial, 'gate', 'approved', key('a'));
    answer(trial, 'gate', 'rejected', key('b'));
    assert.equal(trial.run.error?.code, 'approval_rejected');
  });

  test('names of others are not taken from a link, where approvers are named, or where the gate does not allow them', () => {
    const vote = { action: 'accept', voter: 'ann' };
    const open = gate({ distinctVoters: false });
    assert.equal(refusalOf(open, 'gate', vote, link), 'forbidden');
    assert.equal(refusalOf(gate({ requiredApprovals: 1 }), 'gate', vote), 'forbidden');
    const named = gate({ approversList: ['key-1', 'b', 'c'], distinctVoters: false });
    assert.equal(refusalOf(named, 'gate', vote), 'forbidden');
    assert.equal(refusalOf(open, 'gate', { action: 'accept', voter: '' }), 'forbidden');
  });

  test('time rejects what is not complete', () => {
    const trial = gate({ timeoutMs: 100 });
    answer(trial, 'gate', 'approved');
    trial.wake(1_100);
    assert.equal(trial.run.error?.code, 'approval_rejected');
    assertSound(trial);
  });
});

test('any order of votes ends as the policy says, with one closing event', () => {
  const votes = fc.array(fc.record({ voter: fc.nat(6), approve: fc.boolean() }), { maxLength: 14 });
  const rejectionPolicy = fc.constantFrom('single-veto', 'majority');
  fc.assert(
    fc.property(votes, fc.integer({ min: 1, max: 5 }), rejectionPolicy, (cast, required, policy) => {
      const trial = gate({ requiredApprovals: required, rejectionPolicy: policy, distinctVoters: false });
      const first = new Map<number, boolean>();
      let end: string | undefined;
      for (const { voter, approve } of cast) {
        const value = { action: approve ? 'accept' : 'reject', voter: `v${voter}` };
        const code = refusalOf(trial, 'gate', value);
        if (end !== undefined) {
          assert.equal(code, 'interrupt_already_resolved');
          continue;
        }
        const earlier = first.get(voter);
        assert.equal(code, earlier !== undefined && earlier !== approve ? 'conflict' : undefined);
        if (earlier === undefined) first.set(voter, approve);
        end = expectedEnd([...first.values()], required, policy);
      }
      const ends: Record<string, string> = { approved: 'completed', rejected: 'failed' };
      assert.equal(trial.status('gate'), end === undefined ? 'suspended' : ends[end]);
      const closing = trial.events.filter(({ type }) => type === 'interrupt.resolved');
      assert.equal(closing.length, end === undefined ? 0 : 1);
      assertSound(trial);
    }),
    { numRuns: propertyRuns(150) },
  );
});

/** Written down again, in other words than the code under test. */
function expectedEnd(votes: boolean[], required: number, policy: string): string | undefined {
  let yes = 0;
  let no = 0;
  for (const vote of votes) vote ? yes++ : no++;
  if (yes === required) return 'approved';
  const noNeeded = policy === 'majority' ? Math.floor(required / 2) + 1 : 1;
  return no >= noNeeded ? 'rejected' : undefined;
}
