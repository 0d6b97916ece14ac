import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { wakeAt } from './index.ts';
import { edge, effect, fixed, formula, node, Trial, workflow } from './testing/workflow.ts';

describe('retries', () => {
  const retrying = (settings: object, extras = {}) =>
    workflow([effect('a', { settings: { ...settings } }), node('b')], ['a>b'], extras);

  test('back off, and keep their inputs', () => {
    const definition = workflow(
      [
        effect('a', {
          settings: { maxRetries: 3, backoffMs: 100, backoffFactor: 3, maxBackoffMs: 500 },
          inputs: { v: formula('variables.v') },
        }),
        effect('b'),
        node('set', 'core.setVariable', { config: { name: 'v', value: 2 } }),
      ],
      ['b>set'],
      { variables: [{ name: 'v', type: 'number', defaultValue: 1 }] },
    );
    const trial = Trial.begin(definition).fail('a', 'flaky', true);
    assert.deepEqual(trial.payload('node.retried'), {
      nodeId: 'a',
      attempt: 1,
      delayMs: 100,
      lastError: { code: 'flaky', message: 'flaky' },
    });
    assert.equal(trial.status('a'), 'retrying');
    assert.equal(wakeAt(trial.plan, trial.run), 1_100);
    trial.succeed('b').wake(1_099);
    assert.equal(trial.status('a'), 'retrying');
    trial.wake(1_100);
    const state = trial.run.nodes.get('a');
    assert.deepEqual(state?.status === 'running' && [state.attempt, state.inputs], [1, { v: 1 }]);
    trial.fail('a', 'flaky', true).wake(1_400).fail('a', 'flaky', true);
    assert.deepEqual(
      [1, 2].map((nth) => trial.payload('node.retried', nth).delayMs),
      [300, 500],
    );
    trial.wake(1_900).fail('a', 'flaky', true);
    assert.equal(trial.payload('node.failed').attempts, 4);
    assert.equal(trial.run.status, 'failed');
    assert.equal(trial.run.visits.get('a'), 1);
    assert.equal(trial.run.nodeExecutions, 6);
  });

  test('happen only for failures that can pass', () => {
    assert.equal(Trial.begin(retrying({ maxRetries: 3 })).fail('a').run.status, 'failed');
  });

  test('are taken from the workflow when the node says nothing', () => {
    const settings = { settings: { maxRetries: 1 } };
    assert.equal(Trial.begin(retrying({}, settings)).fail('a', 'x', true).status('a'), 'retrying');
    assert.equal(
      Trial.begin(retrying({ maxRetries: 0 }, settings))
        .fail('a', 'x', true)
        .status('a'),
      'failed',
    );
  });

  test('follow a node timeout', () => {
    const trial = Trial.begin(retrying({ timeoutMs: 50, maxRetries: 1, backoffMs: 10 }));
    assert.equal(wakeAt(trial.plan, trial.run), 1_050);
    assert.equal(trial.wake(1_050).payload('node.retried').attempt, 1);
    trial.wake(1_060).wake(1_110);
    assert.equal(trial.run.error?.code, 'node_timeout');
  });

  test('a result that comes in after the time but before the wake-up counts', () => {
    const trial = Trial.begin(retrying({ timeoutMs: 50 }));
    trial.now = 1_060;
    assert.equal(trial.succeed('a').run.status, 'completed');
  });

  test('core.fail can be retried; a wrong expression cannot', () => {
    const settings = { maxRetries: 2 };
    assert.equal(Trial.begin(workflow([node('a', 'core.fail', { settings })])).status('a'), 'retrying');
    const wrong = node('a', 'core.noop', { settings, inputs: { x: formula('1 / 0') } });
    assert.equal(Trial.begin(workflow([wrong])).status('a'), 'failed');
  });
});

describe('node executions', () => {
  const chain = workflow([node('a'), node('b'), node('c'), node('d')], ['a>b', 'b>c', 'c>d']);

  test('the node over the limit never starts', () => {
    const trial = Trial.begin(chain, { configurable: { recursionLimit: 3 } });
    assert.deepEqual(trial.log().slice(-2), ['cap.breached', 'run.failed']);
    assert.deepEqual(trial.payload('cap.breached'), {
      kind: 'node-executions',
      limit: 3,
      observed: 4,
      nodeId: 'd',
    });
    assert.equal(trial.run.error?.code, 'recursion_limit_exceeded');
    assert.equal(trial.status('d'), 'pending');
  });

  test('the host has the last word', () => {
    const limits = { maxNodeExecutions: 2, maxRunDurationMs: 1e6, maxLoopIterations: 100 };
    assert.equal(Trial.begin(chain, { limits, configurable: { recursionLimit: 100 } }).run.status, 'failed');
    assert.equal(Trial.begin(chain, { configurable: { recursionLimit: 4 } }).run.status, 'completed');
  });
});

describe('the run deadline', () => {
  const waiting = (settings = {}) => workflow([effect('a'), node('b')], ['a>b'], { settings });

  test('is the lowest of host, workflow and run', () => {
    const at = (settings: object, runTimeoutMs?: number) => {
      const configurable = runTimeoutMs === undefined ? {} : { runTimeoutMs };
      const limits = { maxNodeExecutions: 9, maxRunDurationMs: 5_000, maxLoopIterations: 100 };
      const trial = Trial.begin(waiting(settings), { configurable, limits });
      return wakeAt(trial.plan, trial.run);
    };
    assert.equal(at({}), 6_000);
    assert.equal(at({ timeout: 0 }), 6_000);
    assert.equal(at({ timeout: 2_000 }), 3_000);
    assert.equal(at({ timeout: 2_000 }, 700), 1_700);
    assert.equal(at({}, 9_999), 6_000);
  });

  for (const type of ['wake', 'advance', 'settle', 'pause', 'cancel'] as const)
    test(`is enforced on ${type}`, () => {
      const trial = Trial.begin(waiting({ timeout: 500 }));
      const now = 1_500;
      const before = trial.events.length;
      if (type === 'settle')
        trial.give({ type, now, nodeId: 'a', attempt: 0, visit: 1, outcome: { ok: true, outputs: {} } });
      else if (type === 'pause') trial.give({ type, now, drainPolicy: 'immediate' });
      else if (type === 'cancel') trial.give({ type, now });
      else trial.give({ type, now, maxEvents: 10 });
      assert.deepEqual(trial.log().slice(before), ['cap.breached', 'node.cancelled a', 'run.failed']);
      assert.deepEqual(trial.payload('cap.breached'), { kind: 'run-duration', limit: 500, observed: 501 });
      assert.equal(trial.run.error?.code, 'run_timeout');
      assert.equal(trial.run.error?.details?.elapsedMs, 501);
    });

  test('does not count time spent paused', () => {
    const trial = Trial.begin(waiting({ timeout: 500 }));
    trial.give({ type: 'pause', now: 1_400, drainPolicy: 'immediate' });
    assert.equal(wakeAt(trial.plan, trial.run), undefined);
    trial.give({ type: 'resume', now: 9_000 });
    assert.equal(wakeAt(trial.plan, trial.run), 9_100);
    assert.equal(trial.wake(9_099).run.status, 'running');
    assert.equal(trial.wake(9_100).run.error?.details?.elapsedMs, 501);
  });
});

test('a stretch of nodes is bounded by the number of events', () => {
  const trial = new Trial(workflow([node('a'), node('b'), node('c')], ['a>b', 'b>c'])).start();
  trial.advance(3);
  assert.equal(trial.events.length, 5);
  trial.advance(3).advance(3);
  assert.equal(trial.run.status, 'completed');
  assert.equal(trial.events.length, 8);
});

test('conditions on a delay see nothing but its status', () => {
  const condition = { type: 'equals', left: 'status', right: 'completed' } as const;
  const delay = node('a', 'core.delay', { inputs: { delayMs: fixed(10) } });
  const trial = Trial.begin(workflow([delay, node('b')], [edge('a>b', { condition })]));
  assert.equal(trial.wake(1_010).status('b'), 'completed');
});
