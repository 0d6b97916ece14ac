import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isTerminal, type JsonObject } from '@gantry/protocol';
import { decide, executions, type ForkedRun, fold, isReady, newRun, type Run, wakeAt } from '../index.ts';
import { answer, key } from '../testing/answers.ts';
import { Family } from '../testing/family.ts';
import { branch, CREATED_AT, replay, told } from '../testing/forks.ts';
import { edge, effect, node, Trial, workflow } from '../testing/workflow.ts';

/** Lives on until the run ends; every effect succeeds. */
function finish({ plan }: Trial, { run }: ForkedRun): { run: Run; acted: string[] } {
  const acted: string[] = [];
  let [now, state] = [CREATED_AT, run];
  for (let turn = 0; turn < 100 && !isTerminal(state.status); turn++) {
    const [open] = executions(plan, state);
    if (state.status === 'pending') state = decide(plan, state, { type: 'start', now }).run;
    else if (isReady(plan, state)) state = decide(plan, state, { type: 'advance', now, maxEvents: 50 }).run;
    else if (open) {
      acted.push(open.nodeId);
      state = decide(plan, state, { type: 'settle', now, ...open, outcome: { ok: true, outputs: {} } }).run;
    } else {
      now = Math.max(now, wakeAt(plan, state)!);
      state = decide(plan, state, { type: 'wake', now, maxEvents: 50 }).run;
    }
  }
  return { run: state, acted };
}

const SAMPLES: { readonly [name: string]: () => Trial } = {
  effects: () =>
    Trial.begin(workflow([effect('a'), node('b'), effect('c')], ['a>b', 'b>c']))
      .succeed('a', { x: 1 })
      .succeed('c'),
  failure: () => Trial.begin(workflow([effect('a'), effect('b')])).fail('a'),
  breach: () =>
    Trial.begin(workflow([effect('a'), node('b'), node('c')]), { configurable: { recursionLimit: 2 } }),
  'dead letter': () => {
    const settings = { maxRetries: 1, backoffMs: 10 };
    const trial = Trial.begin(workflow([effect('a', { settings }), effect('b')]));
    return trial.fail('a', 'busy', true).wake(1_010).fail('a', 'busy', true);
  },
  'dead letter after a timeout': () => {
    const settings = { maxRetries: 1, backoffMs: 10, timeoutMs: 50 };
    return Trial.begin(workflow([effect('a', { settings })]))
      .wake(1_050)
      .wake(1_060)
      .wake(1_110);
  },
  condition: () =>
    Trial.begin(
      workflow(
        [node('a'), node('b')],
        [edge('a>b', { condition: { type: 'expression', expression: 'output.none > 1.0' } })],
      ),
    ),
  loop: () =>
    Trial.begin(
      workflow(
        [node('l', 'core.loop', { config: { count: 2 } }), node('in'), node('out')],
        [
          edge('l>in', { condition: { type: 'equals', left: 'output.done', right: false } }),
          'in>l',
          edge('l>out', { condition: { type: 'equals', left: 'output.done', right: true } }),
        ],
      ),
    ),
  variables: () =>
    Trial.begin(
      workflow(
        [node('s', 'core.setVariable', { config: { variables: { x: 1, y: 2 } } }), node('t')],
        ['s>t'],
        {
          variables: [
            { name: 'x', type: 'number' },
            { name: 'y', type: 'number' },
          ],
        },
      ),
    ),
};

/** Questions that one answer closes in several events. */
const CLOSINGS: { readonly [name: string]: () => Trial } = {
  quorum: () => {
    const trial = asking('core.approvalGate', { requiredApprovals: 2, approversList: ['a', 'b'] });
    for (const name of ['a', 'b']) answer(trial, 'ask', 'approved', key(name));
    return trial;
  },
  'a majority against': () => {
    const trial = asking('core.approvalGate', {
      requiredApprovals: 2,
      rejectionPolicy: 'majority',
      distinctVoters: false,
    });
    for (const voter of ['a', 'b']) answer(trial, 'ask', { action: 'reject', voter });
    return trial;
  },
  'a governance gate': () => {
    const trial = asking('core.openwop.governance.approvalGate', { requiredRole: 'admin' });
    answer(trial, 'ask', { decision: 'granted' }, key('a', { roles: ['admin'] }));
    return trial;
  },
  'an override past the quorum': () => {
    const config = { requiredRole: 'admin', quorum: 3, overrideBypassesQuorum: true };
    const trial = asking('core.openwop.governance.approvalGate', {
      ...config,
      override: { requiredRole: 'chief' },
    });
    const chief = key('a', { roles: ['admin', 'chief'] });
    answer(trial, 'ask', { decision: 'overridden', reason: 'urgent' }, chief);
    return trial;
  },
  'a conversation': () => {
    const trial = asking('core.conversationGate', { prompt: 'Well?' });
    answer(trial, 'ask', { operation: 'close', turn: { content: 'bye' } });
    return trial;
  },
};

const asking = (typeId: string, config: JsonObject): Trial =>
  Trial.begin(workflow([node('ask', typeId, { config }), node('after')], ['ask>after']));

describe('a branch', () => {
  for (const [name, make] of Object.entries(CLOSINGS)) {
    test(`inside the step that closes a question has it closed: ${name}`, () => {
      const trial = make();
      assert.notEqual(trial.status('ask'), 'suspended', trial.log().join());
      const resolved = trial.events.findIndex(({ type }) => type === 'interrupt.resolved');
      for (let fromSeq = resolved; fromSeq <= trial.events.length; fromSeq++) {
        const { run } = branch(trial, fromSeq);
        assert.notEqual(run.nodes.get('ask')?.status, 'suspended', `from ${fromSeq}`);
        assert.equal(run.interrupts.size, 0);
      }
      const requested = trial.events.findIndex(({ type }) => type === 'interrupt.requested') + 1;
      assert.equal(branch(trial, requested).run.interrupts.size, 1);
    });
  }

  for (const [name, make] of Object.entries(SAMPLES)) {
    test(`stands on its own from whichever event on: ${name}`, () => {
      const trial = make();
      for (let fromSeq = 0; fromSeq <= trial.events.length; fromSeq++) {
        const forked = branch(trial, fromSeq);
        assert.deepEqual(
          told(forked.events.slice(0, fromSeq), trial),
          told(trial.events.slice(0, fromSeq), trial),
        );
        assert.deepEqual(fold(newRun(forked.run.facts), forked.events), forked.run);
        assert.equal(forked.divergedAt, undefined);
        const end = finish(trial, forked);
        // Once the failing event is part of the branch, so is the end it led to.
        const failed = trial.events.findIndex(({ type }) => type === 'node.failed');
        const ends = failed === -1 || fromSeq > failed ? trial.run.status : 'completed';
        assert.equal(end.run.status, ends, `from ${fromSeq}`);
      }
    });
  }

  test('of a child that failed for good ends as its source, and so does a replay', () => {
    const settings = { maxRetries: 1, backoffMs: 5 };
    const call = node('call', 'core.subWorkflow', { config: { workflowId: 'kid' }, settings });
    const kid = workflow([node('fail', 'core.fail')], [], { id: 'kid' });
    const family = new Family(workflow([call, effect('other')]), [kid]).settle();
    const { parent } = family;
    parent.wake(parent.now + 5);
    family.settle();
    const failed = parent.events.findIndex(({ type }) => type === 'node.failed');
    assert.deepEqual(parent.log().slice(failed + 1), [
      'run.dead_lettered',
      'node.cancelled other',
      'run.failed',
    ]);
    for (let fromSeq = failed + 1; fromSeq <= parent.events.length; fromSeq++)
      for (const { run, events } of [branch(parent, fromSeq), replay(parent, fromSeq)]) {
        assert.equal(run.status, 'failed');
        assert.deepEqual(told(events, parent), told(parent.events, parent));
      }
  });

  test('acts again', () => {
    const trial = SAMPLES.effects!();
    const started = trial.events.findIndex(({ nodeId, type }) => nodeId === 'c' && type === 'node.started');
    assert.deepEqual(finish(trial, branch(trial, 0)).acted, ['a', 'c']);
    assert.deepEqual(finish(trial, branch(trial, started)).acted, ['c']);
    assert.deepEqual(finish(trial, branch(trial, started + 1)).acted, ['c']);
  });

  test('goes on from before a cancellation', () => {
    const trial = Trial.begin(workflow([effect('a'), node('b')], ['a>b']));
    const before = trial.events.length;
    trial.give({ type: 'cancel', now: 2_000 });
    assert.equal(finish(trial, branch(trial, before)).run.status, 'completed');
    assert.equal(finish(trial, branch(trial, before + 1)).run.status, 'cancelled');
  });

  test('lives in its own time: limits do not count the time before it was forked', () => {
    const settings = { timeoutMs: 500 };
    const trial = Trial.begin(workflow([effect('a', { settings })]), { configurable: { runTimeoutMs: 900 } });
    const { run } = branch(trial, trial.events.length);
    assert.equal(wakeAt(trial.plan, run), CREATED_AT + 500);
    const late = decide(trial.plan, run, { type: 'wake', now: CREATED_AT + 100, maxEvents: 9 });
    assert.deepEqual(late.events, []);
  });
});
