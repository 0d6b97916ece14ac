import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '@gantry/protocol';
import { DefinitionError } from '../index.ts';
import { answer, assertSound, key, link, refusalOf } from '../testing/answers.ts';
import { edge, node, Trial, workflow } from '../testing/workflow.ts';

const TYPE = 'core.openwop.governance.approvalGate';
const admin = (name: string) => key(name, { roles: ['admin'] });
const gate = (config: JsonObject = {}) =>
  Trial.begin(workflow([node('gate', TYPE, { config: { requiredRole: 'admin', ...config } })]));
const granted = { decision: 'granted' };

describe('the governance gate', () => {
  test('asks through interrupt.requested alone', () => {
    const trial = gate({ requiredScope: 'deploy:promote', quorum: 2 });
    const data = trial.payload('interrupt.requested').data as JsonObject;
    const { gateId, requiredRole, requiredScope, quorum } = data;
    assert.deepEqual([gateId, requiredRole, requiredScope, quorum], ['gate', 'admin', 'deploy:promote', 2]);
    assert.ok(!trial.log().includes('approval.requested gate'));
    assertSound(trial);
  });

  test('a grant by someone with the role releases it', () => {
    const trial = gate();
    answer(trial, 'gate', granted, admin('ann'));
    assert.equal(trial.payload('approval.granted').principal, 'ann');
    assert.equal(trial.outputs('gate')?.approved, true);
    assertSound(trial);
  });

  test('someone without it is denied, on record, once', () => {
    const trial = gate();
    const first = answer(trial, 'gate', granted);
    assert.equal(first.refusal?.code, 'forbidden');
    assert.deepEqual(
      first.events.map(({ type, payload }) => [type, payload.principal, payload.allowed]),
      [['authorization.decided', 'key-1', false]],
    );
    const second = answer(trial, 'gate', granted);
    assert.deepEqual([second.refusal?.code, second.events], ['forbidden', []]);
    for (let i = 0; i < 100; i++) answer(trial, 'gate', granted, key(`stranger-${i}`));
    assert.equal(trial.events.filter(({ type }) => type === 'authorization.decided').length, 50);
    assert.equal(trial.status('gate'), 'suspended');
    assertSound(trial);
  });

  test('a link is no credential; role and scope are both needed where both are named', () => {
    assert.equal(refusalOf(gate(), 'gate', granted, link), 'unauthenticated');
    const both = gate({ requiredScope: 'deploy:promote' });
    assert.equal(refusalOf(both, 'gate', granted, admin('ann')), 'forbidden');
    const entitled = key('ann', { roles: ['admin'], scopes: ['deploy:promote'] });
    assert.equal(refusalOf(both, 'gate', granted, entitled), undefined);
  });

  test('malformed answers are told in its own words', () => {
    const trial = gate({ resumeSchema: { required: ['reason'] } });
    for (const value of [{ decision: 'maybe', reason: 'x' }, { decision: 'granted' }, 7])
      assert.equal(refusalOf(trial, 'gate', value, admin('ann')), 'INVALID_RESUME_VALUE');
    assert.equal(trial.status('gate'), 'suspended');
  });

  test('a quorum is of principals, whatever names they give', () => {
    const trial = gate({ quorum: 2 });
    assert.equal(refusalOf(trial, 'gate', { ...granted, voter: 'bob' }, admin('ann')), 'forbidden');
    answer(trial, 'gate', granted, admin('ann'));
    assert.equal(answer(trial, 'gate', granted, admin('ann')).events.length, 0);
    assert.equal(trial.status('gate'), 'suspended');
    answer(trial, 'gate', granted, admin('bob'));
    assert.equal(trial.status('gate'), 'completed');
    assertSound(trial);
  });
});

describe('a rejected governance gate', () => {
  const routed = () => {
    const gateNode = node('gate', TYPE, { config: { requiredRole: 'admin', timeoutSec: 1 } });
    const approved = { type: 'truthy', left: 'output.approved' } as const;
    const refused = { type: 'falsy', left: 'output.approved' } as const;
    return Trial.begin(
      workflow(
        [gateNode, node('go'), node('back')],
        [edge('gate>go', { condition: approved }), edge('gate>back', { condition: refused })],
      ),
    );
  };

  test('follows its edges', () => {
    const trial = routed();
    answer(trial, 'gate', { decision: 'rejected', reason: 'frozen' }, admin('ann'));
    trial.advance();
    assert.deepEqual(trial.payload('approval.rejected'), {
      gateId: 'gate',
      principal: 'ann',
      reason: 'frozen',
    });
    assert.deepEqual([trial.status('go'), trial.status('back')], ['skipped', 'completed']);
    assertSound(trial);
  });

  test('also when time rejects', () => {
    const trial = routed().wake(2_000);
    const { outcome, reason } = trial.payload('interrupt.resolved');
    assert.deepEqual([outcome, reason], ['rejected', 'timeout']);
    assert.deepEqual([trial.outputs('gate')?.approved, trial.status('back')], [false, 'completed']);
    assertSound(trial);
  });
});

describe('an override', () => {
  const owner = key('olga', { roles: ['owner'] });
  const value = { action: 'override', reason: 'outage' };
  const override = { requiredRole: 'owner', audited: true };

  test('is one vote unless it bypasses the quorum', () => {
    const one = gate({ quorum: 2, override });
    answer(one, 'gate', value, owner);
    assert.deepEqual(one.payload('approval.overridden'), {
      gateId: 'gate',
      principal: 'olga',
      reason: 'outage',
    });
    assert.equal(one.status('gate'), 'suspended');
    answer(one, 'gate', granted, admin('ann'));
    assert.equal(one.status('gate'), 'completed');
    assertSound(one);
    const all = gate({ quorum: 2, override, overrideBypassesQuorum: true });
    answer(all, 'gate', value, owner);
    assert.deepEqual([all.status('gate'), all.outputs('gate')?.overridden], ['completed', true]);
    assertSound(all);
  });

  test('needs its role, a reason, and to be offered', () => {
    const trial = gate({ override });
    assert.equal(refusalOf(trial, 'gate', value, admin('ann')), 'forbidden');
    assert.equal(refusalOf(trial, 'gate', { action: 'override' }, owner), 'INVALID_RESUME_VALUE');
    assert.equal(refusalOf(gate(), 'gate', value, owner), 'forbidden');
    assert.equal(refusalOf(gate(), 'gate', value, admin('ann')), 'INVALID_RESUME_VALUE');
  });
});

describe('a governance gate that guards nothing is refused', () => {
  const cases: JsonObject[] = [
    { requiredRole: '' },
    { quorum: 0 },
    { override: {} },
    { override: { requiredRole: 'owner', audited: false } },
    { overrideBypassesQuorum: 'yes' },
    { timeoutSec: -1 },
  ];
  for (const config of cases)
    test(JSON.stringify(config), () => assert.throws(() => gate(config), DefinitionError));
  test('no role and no scope', () =>
    assert.throws(() => Trial.begin(workflow([node('gate', TYPE)])), DefinitionError));
});
