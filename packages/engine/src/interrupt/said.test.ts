import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject, RunEvent } from '@gantry/protocol';
import { explain } from '../index.ts';
import { answer, assertSound, key } from '../testing/answers.ts';
import { fixed, formula, node, Trial, workflow } from '../testing/workflow.ts';

const gate = (config: JsonObject, extras = {}) =>
  Trial.begin(workflow([node('gate', 'core.approvalGate', { config, ...extras })]));

const ofType = (trial: Trial, type: string): RunEvent[] =>
  trial.events.filter((event) => event.type === type);
const summary = (trial: Trial): string => explain(trial.plan, trial.run, trial.now).summary;

describe('what voters of a quorum write', () => {
  test('is in the events of each vote, in the open interrupt, and in the outputs', () => {
    const trial = gate({ requiredApprovals: 2 });
    answer(trial, 'gate', { action: 'accept', comment: 'checked the sums' }, key('ann'));
    const [log] = ofType(trial, 'log.appended');
    assert.deepEqual(log?.payload, {
      level: 'info',
      message: 'checked the sums',
      nodeId: 'gate',
      fields: { gateId: 'gate', principal: 'ann' },
    });
    assert.ok(log?.causationId);
    const first = { voter: 'ann', approve: true, comment: 'checked the sums' };
    assert.deepEqual(trial.run.interrupts.get('gate')?.votes, [first]);
    assert.match(summary(trial), /ann: "checked the sums"/);
    answer(trial, 'gate', { action: 'accept', comment: 'me too' }, key('bob'));
    const votes = [first, { voter: 'bob', approve: true, comment: 'me too' }];
    assert.deepEqual(trial.outputs('gate')?.votes, votes);
    assert.deepEqual(trial.payload('approval.received').votes, votes);
    assertSound(trial);
  });

  test('is masked where the author marked comments as sensitive', () => {
    const trial = gate({ requiredApprovals: 2 }, { outputSensitivity: { comment: true } });
    for (const name of ['ann', 'bob'])
      answer(trial, 'gate', { action: 'accept', comment: 'hush' }, key(name));
    const shown = trial.events.map(({ payload }) => JSON.stringify(payload)).join();
    assert.ok(!shown.includes('hush'), shown);
    assertSound(trial);
  });

  test('an override keeps its reason among the votes', () => {
    const trial = Trial.begin(
      workflow([
        node('gate', 'core.openwop.governance.approvalGate', {
          config: { requiredRole: 'admin', quorum: 2, override: { requiredRole: 'owner' } },
        }),
      ]),
    );
    answer(trial, 'gate', { action: 'override', reason: 'outage' }, key('eve', { roles: ['owner'] }));
    answer(trial, 'gate', { action: 'accept' }, key('ann', { roles: ['admin'] }));
    assert.match(JSON.stringify(trial.outputs('gate')?.votes), /"eve","approve":true,"comment":"outage"/);
    assertSound(trial);
  });
});

describe('a rejection says who and why', () => {
  for (const name of ['reason', 'feedback', 'comment'])
    test(`sent as ${name}`, () => {
      const trial = gate({});
      answer(trial, 'gate', { action: 'reject', [name]: 'wrong amount' }, key('ann'));
      assert.equal(trial.run.error?.message, 'The approval was rejected by ann ("wrong amount").');
      assert.deepEqual(trial.run.error?.details, {
        reason: 'reject',
        decidedBy: 'ann',
        rejections: [{ by: 'ann', reason: 'wrong amount' }],
        feedback: 'wrong amount',
      });
      assert.match(JSON.stringify(trial.payload('run.failed')), /by ann \(\\"wrong amount\\"\)/);
      assert.match(summary(trial), /by ann \("wrong amount"\)/);
      assert.equal(trial.payload('approval.received').reason, 'wrong amount');
      assertSound(trial);
    });

  test('with a quorum, everyone who voted against it', () => {
    const trial = gate({ requiredApprovals: 3, rejectionPolicy: 'majority' });
    answer(trial, 'gate', { action: 'accept', comment: 'fine' }, key('ann'));
    answer(trial, 'gate', { action: 'reject', reason: 'too late' }, key('bob'));
    answer(trial, 'gate', { action: 'reject' }, key('cy'));
    assert.equal(trial.run.error?.message, 'The approval was rejected by bob ("too late") and cy.');
    assert.deepEqual(trial.run.error?.details?.rejections, [{ by: 'bob', reason: 'too late' }, { by: 'cy' }]);
    assertSound(trial);
  });

  test('a governance gate keeps the reason in its outputs', () => {
    const trial = Trial.begin(
      workflow([node('gate', 'core.openwop.governance.approvalGate', { config: { requiredRole: 'admin' } })]),
    );
    answer(trial, 'gate', { decision: 'rejected', reason: 'frozen' }, key('ann', { roles: ['admin'] }));
    assert.equal(trial.outputs('gate')?.reason, 'frozen');
  });

  test('a reason that the author marked as sensitive is in no error', () => {
    const trial = gate({}, { outputSensitivity: { reason: true } });
    answer(trial, 'gate', { action: 'reject', reason: 'hush' }, key('ann'));
    assert.equal(trial.run.error?.message, 'The approval was rejected by ann.');
    const shown = trial.events.map(({ payload }) => JSON.stringify(payload)).join();
    assert.ok(!shown.includes('hush'), shown);
  });
});

describe('title and description of a gate', () => {
  const inputs = {
    title: formula("'Pay ' + string(variables.amount) + ' to ' + variables.seller + '?'"),
    description: formula("'Account ' + variables.seller + '.'"),
    artifactData: formula('{"seller": variables.seller, "amount": variables.amount}'),
  };
  const variables = [
    { name: 'seller', type: 'string' as const, defaultValue: 'bob' },
    { name: 'amount', type: 'number' as const, defaultValue: 500 },
  ];
  const paying = (extras = {}) =>
    Trial.begin(workflow([node('gate', 'core.approvalGate', { inputs, ...extras })], [], { variables }));

  test('take expressions, as inputs; the rendered text is recorded', () => {
    const trial = paying({ config: { title: 'Pay?' } });
    const { title, description } = trial.run.interrupts.get('gate')!.data;
    assert.deepEqual([title, description], ['Pay 500 to bob?', 'Account bob.']);
    assert.equal(trial.payload('approval.requested').title, 'Pay 500 to bob?');
    assert.match(summary(trial), /"Pay 500 to bob\?".* It is about: Account bob; seller: bob, amount: 500\./);
    assertSound(trial);
  });

  test('a text in config is shown as written', () => {
    const text = "{{amount}} 'a' + string(1)";
    const trial = gate({ title: text, description: text });
    const { title, description } = trial.run.interrupts.get('gate')!.data;
    assert.deepEqual([title, description], [text, text]);
  });

  test('an expression that cannot be compiled is refused with its place', () => {
    assert.throws(
      () => paying({ inputs: { title: formula('variables.seller +') } }),
      /\/nodes\/0\/inputs\/title\/expression/,
    );
  });

  test('a value that is not a text fails the node', () => {
    for (const value of [{ a: 1 }, null, '', []]) {
      const trial = paying({ inputs: { title: fixed(value) } });
      assert.equal(trial.run.error?.code, 'invalid_input', JSON.stringify(value));
      assert.match(trial.run.error?.message ?? '', /The input title must be a text/);
    }
    assert.equal(paying({ inputs: { title: fixed(7) } }).run.interrupts.get('gate')?.data.title, '7');
  });
});
