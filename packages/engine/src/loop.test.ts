import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EdgeCondition, WorkflowDefinition } from '@gantry/protocol';
import { compile } from './compile.ts';
import { decide } from './decide.ts';
import { newRun } from './run.ts';
import { edge, effect, facts, fixed, formula, node, Trial, workflow } from './testing/workflow.ts';

const done: EdgeCondition = { type: 'truthy', left: 'output.done' };
const going: EdgeCondition = { type: 'falsy', left: 'output.done' };
const total = {
  variables: [{ name: 'total', type: 'number', defaultValue: 0 }],
} satisfies Partial<WorkflowDefinition>;

const adding = (id: string, expression: string) =>
  node(id, 'core.setVariable', {
    config: { name: 'total', expression: `variables.total + inputs.item * ${expression}` },
    inputs: { item: formula('nodes.loop.outputs.item') },
  });

describe('core.loop', () => {
  const summing = (body = adding('body', '1')) =>
    workflow(
      [
        node('loop', 'core.loop', { inputs: { items: fixed([1, 2, 3]) } }),
        body,
        node('after', 'core.identity'),
      ],
      [
        edge('loop>body', { condition: going }),
        edge('body>loop'),
        edge('loop>after', { condition: done, sourceOutput: 'count' }),
      ],
      total,
    );

  test('goes through its items, then takes the way out', () => {
    const trial = Trial.begin(summing());
    assert.equal(trial.run.status, 'completed', JSON.stringify(trial.run.error));
    assert.equal(trial.run.variables.total, 6);
    assert.deepEqual(trial.outputs('loop'), { done: true, index: 3, count: 3 });
    assert.deepEqual(trial.outputs('after'), { input: 3 });
    assert.deepEqual(trial.run.visits.toJSON(), { loop: 4, body: 3, after: 1 });
    assert.equal(trial.log().filter((line) => line === 'node.skipped after').length, 0);
  });

  test('says in the log what starts again', () => {
    const trial = Trial.begin(summing());
    const [first, second] = trial.events.filter(
      (event) => event.type === 'node.started' && event.nodeId === 'loop',
    );
    assert.deepEqual(first?.payload, { nodeId: 'loop', typeId: 'core.loop', attempt: 0 });
    assert.deepEqual(second?.payload, {
      nodeId: 'loop',
      typeId: 'core.loop',
      attempt: 0,
      visit: 2,
      loopback: { edgeId: 'body>loop', resets: ['loop', 'body'] },
    });
  });

  test('works the same when the body leaves the process, one event at a time', () => {
    const trial = new Trial(summing(effect('body'))).start();
    for (let turn = 0; turn < 60 && trial.run.status === 'running'; turn++) {
      trial.advance(1);
      if (trial.status('body') === 'running') {
        assert.notEqual(trial.status('after'), 'skipped');
        trial.succeed('body');
      }
    }
    assert.equal(trial.run.status, 'completed');
    assert.equal(trial.run.visits.get('body'), 3);
    assert.equal(trial.status('after'), 'completed');
  });

  test('counts, and may be empty', () => {
    const counting = (count: number) =>
      Trial.begin(
        workflow(
          [node('loop', 'core.loop', { config: { count } }), node('body'), node('after')],
          [edge('loop>body', { condition: going }), 'body>loop', edge('loop>after', { condition: done })],
        ),
      );
    assert.equal(counting(2).run.visits.get('body'), 2);
    assert.equal(counting(0).status('body'), 'skipped');
    assert.equal(counting(0).run.status, 'completed');
  });

  test('starts again when an outer loop does', () => {
    const trial = Trial.begin(
      workflow(
        [
          node('loop', 'core.loop', { inputs: { items: fixed([10, 20]) } }),
          node('inner', 'core.loop', { config: { count: 3 } }),
          adding('body', '1'),
          node('tail'),
          node('end'),
        ],
        [
          edge('loop>inner', { condition: going }),
          edge('inner>body', { condition: going }),
          edge('body>inner'),
          edge('inner>tail', { condition: done }),
          edge('tail>loop'),
          edge('loop>end', { condition: done }),
        ],
        total,
      ),
    );
    assert.equal(trial.run.status, 'completed', JSON.stringify(trial.run.error));
    assert.equal(trial.run.variables.total, 90);
    assert.deepEqual(trial.run.visits.toJSON(), { loop: 3, inner: 8, body: 6, tail: 2, end: 1 });
    assert.equal(trial.log().includes('node.skipped end'), false);
  });

  test('many turns of a node on itself need no stack', () => {
    const trial = Trial.begin(
      workflow(
        [node('loop', 'core.loop', { config: { count: 9_000 } })],
        [edge('loop>loop', { condition: going })],
      ),
      { limits: { maxNodeExecutions: 100_000, maxRunDurationMs: 1e9, maxLoopIterations: 100 } },
    );
    trial.advance();
    assert.equal(trial.run.status, 'completed');
    assert.equal(trial.run.visits.get('loop'), 9_001);
  });

  test('is gone through before what lies deeper', () => {
    const log = Trial.begin(
      workflow(
        [node('loop', 'core.loop', { config: { count: 3 } }), node('body'), node('x'), node('y'), node('z')],
        [edge('loop>body', { condition: going }), 'body>loop', 'x>y', 'y>z'],
      ),
    ).log();
    assert.ok(log.lastIndexOf('node.started body') < log.indexOf('node.started z'));
  });

  test('has a limit of its own', () => {
    const trial = Trial.begin(
      workflow(
        [node('loop', 'core.loop', { config: { count: 9, maxIterations: 4 } })],
        [edge('loop>loop', { condition: going })],
      ),
    );
    assert.deepEqual(trial.payload('workflow.loopback-limit'), { nodeId: 'loop', iterations: 5, limit: 4 });
    assert.equal(trial.run.error?.code, 'loop_limit_exceeded');
    assert.equal(trial.run.error?.details?.iteration, 5);
  });
});

describe('any back-edge', () => {
  const again: EdgeCondition = { type: 'truthy', left: 'output.again' };
  const gate = (settings = {}) =>
    workflow(
      [effect('draft'), effect('review'), node('publish')],
      [
        'draft>review',
        edge('review>draft', { condition: again, sourceOutput: 'notes', targetInput: 'notes' }),
        edge('review>publish', { condition: { type: 'falsy', left: 'output.again' } }),
      ],
      { settings },
    );

  test('brings its value to the head and waits with the way out', () => {
    const trial = Trial.begin(gate()).succeed('draft').succeed('review', { again: true, notes: 'shorter' });
    assert.equal(trial.status('publish'), 'pending');
    assert.equal(trial.status('review'), 'pending');
    const state = trial.run.nodes.get('draft');
    assert.deepEqual(state?.status === 'running' && state.inputs, { notes: 'shorter' });
    trial.succeed('draft').succeed('review', { again: false });
    assert.equal(trial.run.status, 'completed');
    assert.deepEqual(trial.run.visits.toJSON(), { draft: 2, review: 2, publish: 1 });
  });

  test('may be followed five times unless the workflow says otherwise', () => {
    for (const [settings, limit] of [
      [{}, 5],
      [{ maxLoopbackIterations: 2 }, 2],
    ] as const) {
      const trial = Trial.begin(gate(settings));
      while (trial.run.status === 'running') trial.succeed('draft').succeed('review', { again: true });
      assert.equal(trial.run.error?.code, 'loop_limit_exceeded');
      assert.equal(trial.run.visits.get('review'), limit + 1);
    }
  });

  test('cancels what is still at work inside the loop', () => {
    const trial = Trial.begin(
      workflow(
        [node('head'), effect('fast'), effect('slow'), node('join')],
        [
          'head>fast',
          'head>slow',
          'fast>join',
          'slow>join',
          edge('join>head', { condition: again }),
          edge('fast>head', { condition: again }),
        ],
      ),
    );
    trial.succeed('fast', { again: true });
    assert.deepEqual(trial.log().slice(5, 8), [
      'node.completed fast',
      'node.cancelled slow',
      'node.started head',
    ]);
    const late = trial.events.length;
    trial.give({
      type: 'settle',
      now: 1,
      nodeId: 'slow',
      attempt: 0,
      visit: 1,
      outcome: { ok: true, outputs: {} },
    });
    assert.equal(trial.events.length, late);
    assert.equal(trial.succeed('fast', {}).succeed('slow', {}).run.status, 'completed');
  });

  test('a loop whose ways out are both refused still ends', () => {
    const never: EdgeCondition = { type: 'truthy', left: 'output.never' };
    const trial = Trial.begin(
      workflow(
        [node('t'), node('s'), node('m'), node('n'), node('x')],
        [
          't>s',
          edge('s>m', { condition: never }),
          edge('s>n', { condition: never }),
          'm>t',
          'n>t',
          edge('s>x', { condition: never }),
        ],
      ),
    );
    assert.equal(trial.run.status, 'completed');
    assert.equal(trial.status('x'), 'skipped');
  });

  test('a workflow without a root runs', () => {
    const trial = Trial.begin(workflow([node('a'), node('b')], [edge('b>a', { condition: again }), 'a>b']));
    assert.deepEqual(trial.run.visits.toJSON(), { a: 1, b: 1 });
    assert.equal(trial.run.status, 'completed');
  });
});

test('a loop that spins in place stops at the budget of a stretch and goes on with the next', () => {
  const plan = compile(
    workflow([node('again')], [edge('again>again')], { settings: { maxLoopbackIterations: 500 } }),
  );
  let { run } = decide(plan, newRun(facts()), { type: 'start', now: 0 });
  for (let stretches = 0; run.status === 'running'; stretches++) {
    const decision = decide(plan, run, { type: 'advance', now: 0, maxEvents: 50 });
    assert.ok(decision.events.length <= 54, `${decision.events.length} events in one stretch`);
    assert.ok(stretches < 100);
    run = decision.run;
  }
  assert.equal(run.error?.code, 'loop_limit_exceeded');
  assert.equal(run.visits.get('again'), 501);
});
