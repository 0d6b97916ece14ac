import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Command, executions, isReady, wakeAt } from './index.ts';
import { effect, node, Trial, workflow } from './testing/workflow.ts';

const pause: Command = { type: 'pause', now: 2_000, reason: 'lunch', drainPolicy: 'drain-current-node' };
const resume: Command = { type: 'resume', now: 5_000, reason: 'back' };
const cancel: Command = { type: 'cancel', now: 2_000, reason: 'enough', by: 'me' };

describe('cancel', () => {
  test('cancels what is at work or retrying, then the run', () => {
    const trial = Trial.begin(
      workflow([effect('a', { settings: { maxRetries: 1 } }), effect('b'), node('c')], ['a>c']),
    ).fail('a', 'x', true);
    trial.give(cancel);
    assert.deepEqual(trial.log().slice(-3), ['node.cancelled a', 'node.cancelled b', 'run.cancelled']);
    assert.deepEqual(trial.payload('run.cancelled'), {
      reason: 'enough',
      cancelledBy: 'me',
      durationMs: 1_000,
    });
    assert.equal(trial.run.status, 'cancelled');
  });

  test('works before the start and while paused', () => {
    const pending = new Trial(workflow([node('a')]));
    pending.give(cancel);
    assert.deepEqual(pending.log(), ['run.cancelled']);
    const paused = Trial.begin(workflow([effect('a')]));
    paused.give(pause);
    paused.give(cancel);
    assert.equal(paused.run.status, 'cancelled');
  });
});

describe('pause and resume', () => {
  const definition = workflow(
    [
      effect('a', { settings: { timeoutMs: 1_500 } }),
      node('wait', 'core.delay', { config: { ms: 1_500 } }),
      node('b'),
    ],
    ['a>b'],
  );

  test('hold everything: no timers, no settlements, no steps', () => {
    const trial = Trial.begin(definition);
    trial.give(pause);
    assert.deepEqual(trial.payload('run.paused'), { reason: 'lunch', drainPolicy: 'drain-current-node' });
    assert.equal(trial.run.drainPolicy, 'drain-current-node');
    assert.equal(wakeAt(trial.plan, trial.run), undefined);
    assert.deepEqual(executions(trial.plan, trial.run), []);
    const before = trial.events.length;
    trial.succeed('a').wake(4_000);
    assert.equal(trial.events.length, before);
    assert.equal(isReady(trial.plan, trial.run), false);
  });

  test('go on where they were: delays keep their time, limits of nodes stood still', () => {
    const trial = Trial.begin(definition);
    trial.give(pause);
    trial.give(resume);
    assert.deepEqual(trial.payload('run.resumed'), { reason: 'back' });
    assert.equal(trial.run.pausedMs, 3_000);
    assert.equal(trial.run.drainPolicy, undefined);
    assert.equal(executions(trial.plan, trial.run)[0]?.timeoutAt, 5_500);
    trial.wake(5_000);
    assert.equal(trial.status('wait'), 'completed');
    assert.equal(trial.status('a'), 'running');
    trial.now = 5_100;
    assert.equal(trial.succeed('a').run.status, 'completed');
  });
});

describe('commands that do not apply give no events', () => {
  const outcome = { ok: true, outputs: {} } as const;
  const settle = { type: 'settle', now: 3_000, nodeId: 'a', attempt: 0, visit: 1, outcome } as const;
  const late: Command[] = [
    { type: 'start', now: 1 },
    { type: 'advance', now: 1, maxEvents: 9 },
    { type: 'wake', now: 1, maxEvents: 9 },
    settle,
    cancel,
    pause,
    resume,
  ];
  const silent = (trial: Trial, command: Command) => {
    const { run } = trial;
    const decision = trial.give(command);
    assert.deepEqual(decision.events, []);
    assert.equal(decision.run, run);
  };

  test('on a run that is over', () => {
    for (const command of late) silent(Trial.begin(workflow([node('a')])), command);
  });

  test('on a run that has not started', () => {
    for (const command of late.filter(({ type }) => !['start', 'cancel'].includes(type)))
      silent(new Trial(workflow([node('a')])), command);
  });

  test('settlements of another attempt, visit or node', () => {
    const trial = Trial.begin(
      workflow([effect('a'), effect('wait'), node('d', 'core.delay', { config: { ms: 9 } })]),
    );
    silent(trial, { ...settle, attempt: 1 });
    silent(trial, { ...settle, visit: 2 });
    silent(trial, { ...settle, nodeId: 'nobody' });
    silent(trial, { ...settle, nodeId: 'd' });
    silent(trial, resume);
    assert.equal(trial.give(settle).events.length, 1);
    silent(trial, settle);
  });
});

test('a decision leaves the run it was given alone', () => {
  const trial = Trial.begin(workflow([effect('a'), node('b')], ['a>b']));
  const freeze = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    Object.freeze(value);
    Object.values(value).forEach(freeze);
  };
  freeze(trial.run);
  assert.equal(trial.succeed('a').run.status, 'completed');
});
