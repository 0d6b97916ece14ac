import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { executions, explain, ORDINALS_PER_VISIT, snapshot } from './index.ts';
import { edge, effect, fixed, node, Trial, workflow } from './testing/workflow.ts';

describe('snapshot', () => {
  test('shows a run at work', () => {
    const trial = Trial.begin(
      workflow([node('z'), effect('b'), node('a', 'core.delay', { config: { ms: 50 } })], ['z>a', 'z>b'], {
        variables: [{ name: 'v', type: 'number', defaultValue: 2 }],
      }),
      { tags: ['t'], metadata: { m: 1 }, configurable: { recursionLimit: 9 }, inputs: { other: 1 } },
    );
    assert.deepEqual(snapshot(trial.plan, trial.run), {
      runId: 'run-1',
      workflowId: 'wf',
      status: 'running',
      owner: { tenant: 't' },
      currentNodeId: 'a',
      startedAt: '1970-01-01T00:00:01.000Z',
      nodeStates: {
        z: {
          status: 'completed',
          attempt: 0,
          startedAt: '1970-01-01T00:00:01.000Z',
          endedAt: '1970-01-01T00:00:01.000Z',
          outputs: {},
          visits: 1,
        },
        a: {
          status: 'running',
          attempt: 0,
          startedAt: '1970-01-01T00:00:01.000Z',
          dueAt: '1970-01-01T00:00:01.050Z',
          visits: 1,
        },
        b: { status: 'running', attempt: 0, startedAt: '1970-01-01T00:00:01.000Z', visits: 1 },
      },
      inputs: {},
      variables: { v: 2 },
      engineVersion: '1',
      eventLogSchemaVersion: 2,
      tags: ['t'],
      metadata: { m: 1 },
      configurable: { recursionLimit: 9 },
    });
  });

  test('shows how a run ended', () => {
    const failed = Trial.begin(workflow([node('a', 'core.fail')]));
    const shown = snapshot(failed.plan, failed.run);
    assert.equal(shown.error?.code, 'conformance_test_failure');
    assert.equal(shown.completedAt, '1970-01-01T00:00:01.000Z');
    assert.equal(shown.currentNodeId, undefined);
    const done = Trial.begin(
      workflow(
        [
          node('a', 'core.identity', { inputs: { x: fixed(1) } }),
          node('b', 'core.end', { inputs: { y: fixed(2) } }),
        ],
        ['a>b'],
      ),
    );
    assert.deepEqual(snapshot(done.plan, done.run).outputs, { y: 2 });
  });
});

describe('executions', () => {
  test('say what is to be done outside, per visit', () => {
    const again = { type: 'truthy', left: 'output.again' } as const;
    const trial = Trial.begin(
      workflow(
        [effect('a', { config: { effects: 2 }, inputs: { x: fixed(1) }, settings: { timeoutMs: 9 } })],
        [edge('a>a', { condition: again })],
      ),
    );
    assert.deepEqual(executions(trial.plan, trial.run), [
      {
        nodeId: 'a',
        typeId: 'core.conformance.side-effect',
        attempt: 0,
        visit: 1,
        ordinalBase: 0,
        inputs: { x: 1 },
        config: { effects: 2 },
        variables: {},
        timeoutAt: 1_009,
      },
    ]);
    trial.succeed('a', { again: true });
    const [second] = executions(trial.plan, trial.run);
    assert.deepEqual([second?.visit, second?.ordinalBase], [2, ORDINALS_PER_VISIT]);
    assert.deepEqual(executions(trial.plan, trial.succeed('a').run), []);
  });
});

describe('explain', () => {
  const definition = workflow([
    effect('call', { settings: { timeoutMs: 5_000 } }),
    effect('flaky', { settings: { maxRetries: 1 } }),
    node('wait', 'core.delay', { config: { ms: 2_500 } }),
  ]);

  test('says what a running run waits for, and until when', () => {
    const trial = Trial.begin(definition).fail('flaky', 'offline', true);
    const { waitingFor, summary, actions } = explain(trial.plan, trial.run, 1_200);
    assert.deepEqual(
      waitingFor.map(({ kind, nodeId, wakesAt }) => [kind, nodeId, wakesAt]),
      [
        ['invocation', 'call', 6_000],
        ['retry', 'flaky', 2_000],
        ['timer', 'wait', 3_500],
      ],
    );
    assert.match(summary, /wait is a delay that ends in 2\.3 s/);
    assert.match(summary, /flaky failed \(offline\) and is tried again in 800 ms/);
    assert.deepEqual(
      actions.map(({ action }) => action),
      ['pause', 'cancel', 'read-events'],
    );
  });

  test('has words for every status', () => {
    const pending = new Trial(definition);
    assert.equal(explain(pending.plan, pending.run, 5).waitingFor[0]?.kind, 'capacity');
    const ready = new Trial(definition).start();
    assert.equal(explain(ready.plan, ready.run, 1_000).waitingFor[0]?.kind, 'capacity');
    const paused = Trial.begin(definition);
    paused.give({ type: 'pause', now: 1_500, drainPolicy: 'immediate' });
    const held = explain(paused.plan, paused.run, 2_000);
    assert.deepEqual(
      [held.waitingFor[0]?.kind, held.since, held.actions[0]?.path],
      ['resume', 1_500, '/v1/runs/run-1:resume'],
    );
    paused.give({ type: 'cancel', now: 2_500 });
    assert.equal(explain(paused.plan, paused.run, 9_000).summary, 'The run was cancelled.');
    assert.equal(explain(paused.plan, paused.run, 9_000).since, 2_500);
    const done = Trial.begin(workflow([node('a')]));
    assert.equal(explain(done.plan, done.run, 9).summary, 'The run completed after 1 node execution.');
  });

  test('names the cause of a failure', () => {
    const trial = Trial.begin(definition).fail('call', 'refused');
    const { cause, summary, actions } = explain(trial.plan, trial.run, 2_000);
    assert.deepEqual(cause, {
      sequence: trial.events.findIndex((event) => event.type === 'node.failed'),
      nodeId: 'call',
      error: { code: 'refused', message: 'refused' },
    });
    assert.equal(summary, 'The run failed at call: refused');
    assert.deepEqual(
      actions.map(({ action }) => action),
      ['repair', 'run-again', 'read-events'],
    );
  });
});
