import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EdgeCondition, JsonObject, TriggerRule } from '@gantry/protocol';
import { edge, effect, node, Trial, workflow } from './testing/workflow.ts';

type Ending = 'completed' | 'failed' | 'skipped' | 'running';

/** Two sources settle as told; the target's verdict is what the rule makes of them. */
function verdict(rule: TriggerRule, first: Ending, second: Ending): string {
  const trial = Trial.begin(
    workflow(
      [effect('a'), effect('b', { disabled: second === 'skipped' }), node('t'), node('handler')],
      [
        edge('a>t', { triggerRule: rule }),
        edge('b>t', { triggerRule: rule }),
        edge('a>handler', { triggerRule: 'any_failed' }),
        edge('b>handler', { triggerRule: 'any_failed' }),
      ],
    ),
  );
  for (const [id, ending] of [
    ['a', first],
    ['b', second],
  ] as const) {
    if (ending === 'completed') trial.succeed(id);
    if (ending === 'failed') trial.fail(id);
  }
  return trial.status('t');
}

describe('trigger rules', () => {
  const table: [TriggerRule, Ending, Ending, string][] = [
    ['all_success', 'completed', 'completed', 'completed'],
    ['all_success', 'completed', 'skipped', 'completed'],
    ['all_success', 'completed', 'running', 'pending'],
    ['all_success', 'failed', 'running', 'pending'],
    ['all_success', 'completed', 'failed', 'skipped'],
    ['any_success', 'completed', 'running', 'completed'],
    ['any_success', 'failed', 'completed', 'completed'],
    ['any_success', 'failed', 'running', 'pending'],
    ['any_success', 'failed', 'skipped', 'skipped'],
    ['all_complete', 'failed', 'skipped', 'completed'],
    ['all_complete', 'failed', 'running', 'pending'],
    ['none_failed', 'completed', 'skipped', 'completed'],
    ['none_failed', 'completed', 'running', 'pending'],
    ['none_failed', 'failed', 'running', 'skipped'],
    ['any_failed', 'failed', 'running', 'completed'],
    ['any_failed', 'completed', 'running', 'pending'],
    ['any_failed', 'completed', 'skipped', 'skipped'],
  ];
  for (const [rule, first, second, expected] of table)
    test(`${rule}: ${first}, ${second} -> ${expected}`, () =>
      assert.equal(verdict(rule, first, second), expected));

  test('the edge with the lowest id speaks for all', () => {
    const trial = Trial.begin(
      workflow(
        [effect('a'), effect('b'), node('t')],
        [
          edge('a>t', { id: 'e2', triggerRule: 'all_success' }),
          edge('b>t', { id: 'e1', triggerRule: 'any_success' }),
        ],
      ),
    );
    assert.equal(trial.succeed('a').status('t'), 'completed');
  });

  test('skips spread, with a reason', () => {
    const trial = Trial.begin(
      workflow([node('a', 'core.noop', { disabled: true }), node('b'), node('c')], ['a>b', 'b>c']),
    );
    assert.deepEqual(trial.log(), [
      'run.started',
      'node.skipped a',
      'node.skipped b',
      'node.skipped c',
      'run.completed',
    ]);
    assert.equal(trial.payload('node.skipped').reason, 'disabled');
    assert.equal(trial.payload('node.skipped', 1).reason, 'not-triggered');
  });
});

describe('edge conditions', () => {
  const outputs: JsonObject = {
    output: { approved: true, tags: ['a', { b: 1 }], name: 'order-7', zero: 0 },
    extra: 'seen',
  };
  function taken(condition: EdgeCondition): boolean {
    const trial = Trial.begin(
      workflow([effect('a'), node('t'), node('other')], [edge('a>t', { condition }), 'a>other'], {
        variables: [{ name: 'limit', type: 'number', defaultValue: 5 }],
      }),
      { inputs: { limit: 6 } },
    );
    trial.succeed('a', outputs);
    assert.equal(trial.run.status, 'completed', JSON.stringify(trial.run.error));
    return trial.status('t') === 'completed';
  }

  const cases: [EdgeCondition, boolean][] = [
    [{ type: 'equals', left: 'status', right: 'completed' }, true],
    [{ type: 'equals', left: 'output.tags', right: ['a', { b: 1 }] }, true],
    [{ type: 'notEquals', left: 'output.tags', right: ['a'] }, true],
    [{ type: 'contains', left: 'output.tags', right: { b: 1 } }, true],
    [{ type: 'contains', left: 'output.name', right: 'der' }, true],
    [{ type: 'contains', left: 'output.zero', right: '0' }, false],
    [{ type: 'regex', left: 'output.name', right: '^order-[0-9]$' }, true],
    [{ type: 'regex', left: 'output.zero', right: '0' }, false],
    [{ type: 'truthy', left: 'output.approved', right: 'ignored' }, true],
    [{ type: 'truthy', left: 'output.constructor' }, false],
    [{ type: 'falsy', left: 'output.zero' }, true],
    [{ type: 'falsy', left: 'output.nothing.there' }, true],
    [{ type: 'truthy', left: 'outputs.extra' }, true],
    [{ type: 'truthy', left: 'output.extra' }, true],
    [{ type: 'equals', left: 'output.tags.1.b', right: 1 }, true],
    [{ left: 'output.approved' }, true],
    [{ type: 'expression', expression: 'output.approved && outputs.extra == "seen"' }, true],
    [{ type: 'expression', expression: 'variables.limit == 6 && inputs.limit == 6' }, true],
    [{ expression: 'status == "completed" && error == null && nodes.a.status == "running"' }, true],
  ];
  for (const [condition, expected] of cases)
    test(JSON.stringify(condition), () => assert.equal(taken(condition), expected));

  test('the way taken is fixed when the source settles', () => {
    const condition = { expression: 'variables.mode == "old"' };
    const trial = Trial.begin(
      workflow(
        [
          node('a'),
          effect('wait'),
          node('set', 'core.setVariable', { config: { name: 'mode', value: 'new' } }),
          node('t'),
        ],
        [edge('a>t', { condition }), 'wait>set', 'set>t'],
        { variables: [{ name: 'mode', type: 'string', defaultValue: 'old' }] },
      ),
    );
    assert.deepEqual(trial.payload('node.completed').conditions, { 'a>t': true });
    assert.equal(trial.succeed('wait').status('t'), 'completed');
    assert.equal(trial.run.variables.mode, 'new');
  });

  test('a condition that fails ends the run and names its edge', () => {
    const trial = Trial.begin(
      workflow([node('a'), node('b')], [edge('a>b', { condition: { expression: 'output.x > 1' } })]),
    );
    assert.equal(trial.run.error?.code, 'expression_failed');
    assert.deepEqual(trial.run.error?.details, { edgeId: 'a>b' });
    assert.equal(trial.run.failedNodeId, 'a');
  });
});

describe('failures', () => {
  test('end the run at once and cancel what is at work', () => {
    const trial = Trial.begin(workflow([effect('a'), effect('b'), node('c')], ['a>c']));
    trial.fail('a', 'broken');
    assert.deepEqual(trial.log().slice(3), ['node.failed a', 'node.cancelled b', 'run.failed']);
    assert.equal(trial.run.error?.code, 'broken');
    assert.equal(trial.run.failedNodeId, 'a');
    assert.equal(trial.payload('run.failed').failedNodeId, 'a');
  });

  test('are handled by a taken edge into any_failed or all_complete', () => {
    const handled = (condition?: EdgeCondition, disabled = false) =>
      Trial.begin(
        workflow(
          [
            node('a', 'core.fail', { config: { code: 'oops' } }),
            node('b'),
            node('c', 'core.noop', { disabled }),
          ],
          ['a>b', edge('a>c', { triggerRule: 'any_failed', ...(condition && { condition }) })],
        ),
      );
    assert.equal(handled().run.status, 'completed');
    assert.equal(handled().status('b'), 'skipped');
    assert.equal(handled({ type: 'equals', left: 'error.code', right: 'oops' }).status('c'), 'completed');
    assert.equal(handled({ type: 'equals', left: 'error.code', right: 'other' }).run.status, 'failed');
    assert.equal(handled({ expression: 'output.missing' }).run.error?.code, 'oops');
    assert.equal(handled(undefined, true).run.status, 'failed');
  });
});
