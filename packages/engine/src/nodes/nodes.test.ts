import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject, WorkflowDefinition } from '@gantry/protocol';
import { effect, fixed, formula, node, Trial, workflow } from '../testing/workflow.ts';

const variables: WorkflowDefinition['variables'] = [
  { name: 'greeting', type: 'string', defaultValue: 'hi' },
  { name: 'count', type: 'number' },
];

/** Runs one node of a type and answers what it put out. */
function outputsOf(typeId: string, config: JsonObject, inputs: JsonObject = {}): JsonObject | undefined {
  const ports = Object.fromEntries(Object.entries(inputs).map(([name, value]) => [name, fixed(value)]));
  const trial = Trial.begin(workflow([node('n', typeId, { config, inputs: ports })], [], { variables }));
  return trial.outputs('n');
}

describe('core types', () => {
  test('core.noop puts out nothing', () => assert.deepEqual(outputsOf('core.noop', {}, { a: 1 }), {}));

  test('core.start puts out the variables', () =>
    assert.deepEqual(outputsOf('core.start', {}), { greeting: 'hi' }));

  for (const typeId of ['core.end', 'core.identity', 'core.parallel'])
    test(`${typeId} puts out its inputs`, () =>
      assert.deepEqual(outputsOf(typeId, {}, { a: [1] }), { a: [1] }));

  test('core.conditional judges an expression or a path', () => {
    const inputs = { amount: 7, text: 'abc' };
    const judge = (config: JsonObject) => outputsOf('core.conditional', config, inputs)?.result;
    assert.equal(judge({ expression: 'inputs.amount > 5 && variables.greeting == "hi"' }), true);
    assert.equal(judge({ type: 'equals', left: 'amount', right: 8 }), false);
    assert.equal(judge({ type: 'regex', left: 'text', right: '^a' }), true);
    assert.equal(judge({ type: 'falsy', left: 'missing' }), true);
    assert.equal(judge({ expression: 'inputs.amount' }), undefined);
  });

  test('core.merge merges objects, or lists values', () => {
    const inputs = { a: { x: 1, y: 1 }, b: { y: 2 }, c: 3 };
    assert.deepEqual(outputsOf('core.merge', {}, inputs), { output: { x: 1, y: 2, c: 3 } });
    assert.deepEqual(outputsOf('core.merge', { mode: 'array' }, inputs), { output: [inputs.a, inputs.b, 3] });
  });

  test('core.setVariable writes a value, an expression, an input or a map', () => {
    const write = (config: JsonObject, inputs: Parameters<typeof node>[2] = {}) =>
      Trial.begin(workflow([node('n', 'core.setVariable', { config, ...inputs })], [], { variables }));
    assert.equal(write({ name: 'count', value: 4 }).run.variables.count, 4);
    assert.equal(write({ name: 'count', expression: 'size(variables.greeting) + 1' }).run.variables.count, 3);
    assert.equal(write({ name: 'count' }, { inputs: { value: fixed(5) } }).run.variables.count, 5);
    const both = write({ variables: { count: 1, greeting: null } });
    assert.deepEqual(both.run.variables, { greeting: null, count: 1 });
    assert.deepEqual(both.payload('variable.changed', 1), {
      name: 'greeting',
      nodeId: 'n',
      previous: 'hi',
      next: null,
    });
    assert.deepEqual(both.log(), [
      'run.started',
      'node.started n',
      'variable.changed n',
      'variable.changed n',
      'node.completed n',
      'run.completed',
    ]);
  });

  test('core.setVariable refuses a value of another type', () => {
    const config = { name: 'count', value: 'four' };
    const trial = Trial.begin(workflow([node('n', 'core.setVariable', { config })], [], { variables }));
    assert.equal(trial.run.error?.code, 'variable_type_mismatch');
    assert.equal(trial.run.variables.count, undefined);
  });

  test('core.getVariable reads a value, and fails without one', () => {
    assert.deepEqual(outputsOf('core.getVariable', { name: 'greeting' }), { value: 'hi' });
    assert.equal(outputsOf('core.getVariable', { name: 'count' }), undefined);
  });

  test('core.fail fails as told, or as conformance expects', () => {
    const fail = (config: JsonObject, inputs: JsonObject = {}) => {
      const ports = Object.fromEntries(Object.entries(inputs).map(([name, value]) => [name, fixed(value)]));
      return Trial.begin(workflow([node('n', 'core.fail', { config, inputs: ports })])).run.error;
    };
    assert.deepEqual(fail({}), {
      code: 'conformance_test_failure',
      message: 'Intentional conformance failure',
    });
    assert.deepEqual(fail({ code: 'a', message: 'b' }, { code: 'c' }), { code: 'c', message: 'b' });
  });

  test('core.conformance.side-effect waits for its settlement', () => {
    const trial = Trial.begin(workflow([effect('n')]));
    assert.equal(trial.status('n'), 'running');
    assert.deepEqual(trial.succeed('n', { done: 1 }).run.outputs, { done: 1 });
  });

  test('conformance.requiresMissing names the capability', () => {
    const { error } = Trial.begin(workflow([node('n', 'conformance.requiresMissing')])).run;
    assert.equal(error?.code, 'capability_not_provided');
    assert.match(error?.message ?? '', /conformance\.never-provided/);
  });
});

describe('core.delay', () => {
  const sleep = (config: JsonObject, delayMs?: number) =>
    Trial.begin(
      workflow([
        node('n', 'core.delay', { config, inputs: delayMs === undefined ? {} : { delayMs: fixed(delayMs) } }),
      ]),
    );

  test('sleeps until it is due', () => {
    const trial = sleep({ ms: 500 });
    assert.equal(trial.wake(1_499).status('n'), 'running');
    assert.equal(trial.wake(1_500).run.status, 'completed');
    assert.equal(trial.payload('node.completed').durationMs, 500);
  });

  test('takes the input before the config, whatever the key', () => {
    for (const key of ['delayMs', 'ms', 'durationMs'])
      assert.equal(sleep({ [key]: 20 }).payload('node.started').dueAt, 1_020);
    assert.equal(sleep({ ms: 20 }, 30).payload('node.started').dueAt, 1_030);
  });

  test('fails on a time that is none', () => {
    assert.equal(sleep({}, -1).run.error?.code, 'invalid_input');
    assert.equal(sleep({}, 2 ** 31).run.error?.code, 'invalid_input');
  });
});

describe('inputs', () => {
  test('come from taken edges first, then from ports', () => {
    const trial = Trial.begin(
      workflow(
        [
          node('a', 'core.identity', { inputs: { output: fixed('from edge'), other: fixed(1) } }),
          node('b', 'core.identity', {
            inputs: {
              other: { type: 'connection', nodeId: 'a', outputKey: 'other' },
              absent: { type: 'connection', nodeId: 'a', outputKey: 'none', optional: true },
              word: { type: 'variable', variableName: 'greeting' },
              sum: formula('nodes.a.outputs.other + size(inputs)'),
            },
          }),
          node('c', 'core.identity', { inputs: { input: fixed('port wins') } }),
        ],
        ['a>b', 'a>c'],
        { variables },
      ),
      { inputs: { greeting: 'hello', undeclared: 1 } },
    );
    assert.deepEqual(trial.outputs('b'), { input: 'from edge', other: 1, word: 'hello', sum: 2 });
    assert.deepEqual(trial.outputs('c'), { input: 'port wins' });
  });

  const failing = (port: Parameters<typeof workflow>[0][number]['inputs'][string]) =>
    Trial.begin(
      workflow([node('a'), node('b', 'core.noop', { inputs: { x: port } })], ['a>b'], { variables }),
    ).run;

  test('that cannot be resolved fail the node, without retries', () => {
    assert.equal(
      failing({ type: 'connection', nodeId: 'a', outputKey: 'x' }).error?.code,
      'input_unresolved',
    );
    assert.equal(failing({ type: 'variable', variableName: 'count' }).error?.code, 'input_unresolved');
    assert.equal(failing(formula('variables.count')).error?.code, 'expression_failed');
    assert.equal(failing(formula('variables.count')).failedNodeId, 'b');
  });

  test('outputs of a few lines that are huge on disk fail the node', () => {
    const big = { type: 'variable', variableName: 'greeting' } as const;
    const inputs = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`p${index}`, big]));
    const trial = Trial.begin(workflow([node('n', 'core.identity', { inputs })], [], { variables }), {
      inputs: { greeting: 'x'.repeat(500_000) },
    });
    assert.equal(trial.run.error?.code, 'payload_too_large');
  });
});
