import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type ChildReport,
  childRequests,
  childrenToCancel,
  executions,
  explain,
  type PackNodeType,
} from '../index.ts';
import { assertSound } from '../testing/answers.ts';
import { branch, replay } from '../testing/forks.ts';
import { node, Trial, workflow } from '../testing/workflow.ts';

const caller: PackNodeType = {
  typeId: 'vendor.acme.call',
  packName: 'vendor.acme.tools',
  packVersion: '1.0.0',
  integrity: 'sha256-abc',
  effect: 'effect',
  sensitiveOutputs: [],
};

const begin = (extras = {}): Trial =>
  new Trial(
    workflow([node('a', caller.typeId, extras)]),
    {},
    { packTypes: (typeId) => (typeId === caller.typeId ? caller : undefined) },
  )
    .start()
    .advance();

const call = (trial: Trial, inputs = {}): Trial =>
  trial.settle('a', { call: { workflowId: 'worker', inputs } });

const started = (trial: Trial, childRunId = 'child-1'): Trial => {
  const starts = [{ index: 0, childRunId }];
  trial.give({ type: 'childrenStarted', now: trial.now, nodeId: 'a', visit: 1, starts });
  return trial;
};

const ended = (trial: Trial, report: Partial<ChildReport> = {}) => {
  const full = {
    childRunId: 'child-1',
    status: 'completed',
    variables: {},
    sensitive: [],
    ...report,
  } as const;
  return trial.give({ type: 'childEnded', now: trial.now, nodeId: 'a', visit: 1, report: full });
};

const work = ({ plan, run }: Trial) => executions(plan, run);

describe('pack code that calls a workflow', () => {
  test('waits for its child, then runs again with how it ended', () => {
    const trial = call(begin(), { x: 1 });
    assert.deepEqual(work(trial), []);
    const wanted = { nodeId: 'a', visit: 1, index: 0, workflowId: 'worker', inputs: { x: 1 } };
    assert.deepEqual(childRequests(trial.plan, trial.run), [
      { ...wanted, unset: [], harvest: [], reportsOutputs: true },
    ]);
    started(trial);
    assert.match(explain(trial.plan, trial.run, trial.now).waitingFor[0]!.text, /child run child-1/);
    ended(trial, { outputs: { y: 2 } });
    assert.deepEqual(work(trial)[0]?.pack?.calls, [
      { workflowId: 'worker', attempt: 0, status: 'completed', runId: 'child-1', outputs: { y: 2 } },
    ]);
    assert.equal(trial.succeed('a').run.status, 'completed');
    assertSound(trial);
  });

  test('is told of children that failed or could not start, in the order of its calls', () => {
    const trial = started(call(begin()));
    ended(trial, { status: 'failed', error: { code: 'broken', message: 'no' } });
    call(trial);
    const error = { code: 'unknown_child_workflow', message: 'none' };
    const starts = [{ index: 0, error }];
    trial.give({ type: 'childrenStarted', now: trial.now, nodeId: 'a', visit: 1, starts });
    assert.deepEqual(work(trial)[0]?.pack?.calls, [
      {
        workflowId: 'worker',
        attempt: 0,
        status: 'failed',
        runId: 'child-1',
        error: { code: 'broken', message: 'no' },
      },
      { workflowId: 'worker', attempt: 0, status: 'failed', error },
    ]);
    assertSound(trial);
  });

  test('is not heard while its child is under way', () => {
    const trial = started(call(begin()));
    const before = trial.run;
    trial.succeed('a');
    call(trial);
    assert.deepEqual(trial.run, before);
    ended(trial);
    assert.deepEqual(ended(trial).events, []);
  });

  test('ends its child with itself, and calls anew in its next attempt', () => {
    const trial = started(call(begin({ settings: { timeoutMs: 50, maxRetries: 1, backoffMs: 10 } })));
    const before = trial.run;
    trial.wake(1_060);
    assert.deepEqual(childrenToCancel(trial.plan, before, trial.run), ['child-1']);
    trial.wake(1_100);
    assert.deepEqual(work(trial)[0]?.pack?.calls, []);
    assert.deepEqual(ended(trial, { status: 'cancelled' }).events, []);
    assertSound(trial);
    const other = started(call(begin()));
    const cancelled = other.give({ type: 'cancel', now: other.now });
    assert.deepEqual(childrenToCancel(other.plan, started(call(begin())).run, cancelled.run), ['child-1']);
  });

  test('keeps children that completed over a retry, and calls anew from the first that did not', () => {
    const trial = begin({ settings: { maxRetries: 2, backoffMs: 0 } });
    const called = (status: ChildReport['status']) => ended(started(call(trial)), { status });
    const retried = () => {
      trial.fail('a', 'busy', true).wake(trial.now);
      const { calls, rounds } = work(trial)[0]!.pack!;
      return [calls.map(({ attempt, status }) => `${attempt} ${status}`), rounds];
    };
    called('completed');
    called('failed');
    called('completed');
    assert.deepEqual(retried(), [['0 completed'], 3]);
    called('completed');
    called('cancelled');
    assert.deepEqual(retried(), [['0 completed', '1 completed'], 5]);
    assertSound(trial);
  });

  test('hears of the end of its child after a pause', () => {
    const trial = started(call(begin()));
    trial.give({ type: 'pause', now: trial.now, drainPolicy: 'drain-current-node' });
    assert.equal(ended(trial).refusal?.code, 'conflict');
    trial.give({ type: 'resume', now: trial.now });
    ended(trial);
    assert.equal(work(trial).length, 1);
  });

  test('fails when it calls without end or hands over too much', () => {
    const trial = begin();
    for (let round = 0; round < 100; round++) ended(started(call(trial)));
    assert.equal(call(trial).run.error?.code, 'suspension_limit_exceeded');
    assert.equal(call(begin(), { text: 'x'.repeat(20_000_000) }).run.status, 'failed');
  });

  test('fails its call when the child reports more than an event holds', () => {
    const trial = started(call(begin()));
    ended(trial, { outputs: { text: 'x'.repeat(20_000_000) } });
    const [called] = work(trial)[0]?.pack?.calls ?? [];
    assert.equal(called?.status, 'failed');
    assert.equal(called?.outputs, undefined);
  });

  test('is replayed from its record, and a branch starts the child again', () => {
    const trial = started(call(begin(), { x: 1 }));
    const cut = trial.events.length;
    ended(trial, { outputs: { y: 2 } });
    trial.succeed('a', { y: 2 });
    const replayed = replay(trial);
    assert.equal(replayed.divergedAt, undefined);
    assert.deepEqual(
      replayed.events.map(({ type }) => type),
      trial.events.map(({ type }) => type),
    );
    assert.deepEqual(replayed.run.outputs, trial.run.outputs);
    const [request] = childRequests(trial.plan, branch(trial, cut).run);
    assert.deepEqual(request?.inputs, { x: 1 });
  });
});
