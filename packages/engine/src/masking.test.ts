import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { MaskingMode, WorkflowDefinition } from '@gantry/protocol';
import { compile, DefinitionError, fold, newRun, snapshot } from './index.ts';
import { edge, facts, fixed, node, Trial, workflow } from './testing/workflow.ts';

const definition = (maskingMode?: MaskingMode): WorkflowDefinition =>
  workflow(
    [
      node('start', 'core.start'),
      node('set', 'core.setVariable', { config: { name: 'secret', value: 'new' } }),
      node('get', 'core.getVariable', { config: { name: 'secret' } }),
      node('out', 'core.identity', {
        inputs: { shown: fixed(1), hidden: { type: 'variable', variableName: 'secret' } },
        outputSensitivity: { hidden: true },
      }),
    ],
    ['start>set', edge('set>get'), 'get>out'],
    {
      variables: [
        { name: 'secret', type: 'string', sensitive: true },
        { name: 'open', type: 'number', defaultValue: 7 },
      ],
      metadata: maskingMode ? { complianceConfig: { maskingMode } } : {},
    },
  );

const run = (mode?: MaskingMode) =>
  Trial.begin(definition(mode), { inputs: { secret: 'old', undeclared: 'hush' } });

describe('masking', () => {
  const seen: [MaskingMode | undefined, object, object][] = [
    [undefined, { secret: '[REDACTED]' }, { previous: '[REDACTED]', next: '[REDACTED]' }],
    ['mask', { secret: '[REDACTED]' }, { previous: '[REDACTED]', next: '[REDACTED]' }],
    ['omit', {}, {}],
    [
      'hash',
      { secret: 'sha256:digest of old' },
      { previous: 'sha256:digest of old', next: 'sha256:digest of new' },
    ],
    ['passthrough', { secret: 'old' }, { previous: 'old', next: 'new' }],
  ];
  for (const [mode, inputs, change] of seen)
    test(`mode ${mode}`, () => {
      const trial = run(mode);
      assert.deepEqual(trial.payload('run.started').inputs, inputs);
      assert.deepEqual(trial.payload('variable.changed'), { name: 'secret', nodeId: 'set', ...change });
      assert.deepEqual(snapshot(trial.plan, trial.run).inputs, inputs);
      assert.equal(trial.run.variables.secret, 'new');
    });

  test('no clear value is in any payload, nor in the snapshot', () => {
    const trial = run();
    const visible = JSON.stringify([
      trial.events.map((event) => event.payload),
      snapshot(trial.plan, trial.run),
    ]);
    assert.doesNotMatch(visible, /old|new|hush/);
    assert.deepEqual(trial.payload('run.completed').outputs, { shown: 1, hidden: '[REDACTED]' });
    assert.deepEqual(snapshot(trial.plan, trial.run).outputs, { shown: 1, hidden: '[REDACTED]' });
  });

  test('nodes and the fold see clear values', () => {
    const trial = run();
    assert.deepEqual(trial.run.outputs, { shown: 1, hidden: 'new' });
    assert.deepEqual(trial.outputs('start'), { secret: 'old', open: 7 });
    const events = JSON.parse(JSON.stringify(trial.events));
    assert.deepEqual(
      fold(newRun(facts({ inputs: { secret: 'old', undeclared: 'hush' } })), events),
      trial.run,
    );
  });

  test('nothing is sealed that readers may see', () => {
    const trial = Trial.begin(workflow([node('a', 'core.identity', { inputs: { x: fixed(1) } })]));
    assert.ok(trial.events.every((event) => event.sealed === undefined));
  });

  test('hashing needs a hash', () => {
    assert.throws(() => compile(definition('hash')), DefinitionError);
  });
});
