import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ChannelDeclaration, WorkflowNode } from '@gantry/protocol';
import { fold, newRun, snapshot } from '../index.ts';
import { chain, channelValue, errorOf, issuesOf, write } from '../testing/channels.ts';
import { edge, facts, formula, node, Trial, workflow } from '../testing/workflow.ts';

describe('reading', () => {
  const reader = (expression: string, extras: Partial<WorkflowNode> = {}) =>
    node('read', 'core.identity', { inputs: { seen: formula(expression) }, ...extras });

  test('expressions of inputs, configs and edges see the value, and before the first write the default', () => {
    const nodes = [
      reader('channels.log + channels["other:n1"]'),
      write('add', 4),
      node('judge', 'core.conditional', { config: { expression: 'channels.log == 4' } }),
      node('yes'),
    ];
    const condition = { type: 'expression' as const, expression: 'channels.log > 3' };
    const trial = Trial.begin(
      workflow(nodes, ['read>add', 'add>judge', edge('judge>yes', { condition })], {
        channels: { log: { reducer: 'counter' }, 'other:n1': { reducer: 'replace', default: 7 } },
      }),
    );
    assert.deepEqual(trial.outputs('read'), { seen: 7 });
    assert.deepEqual(trial.outputs('judge'), { result: true });
    assert.equal(trial.status('yes'), 'completed');
    assert.deepEqual(snapshot(trial.plan, trial.run).channels, { log: 4, 'other:n1': 7 });
  });

  test('a default is gone with the first write', () => {
    const trial = Trial.begin(chain({ reducer: 'append', default: ['old'] }, ['new']));
    assert.deepEqual(channelValue(trial), ['new']);
  });

  test('null that was written is null, whatever the default', () => {
    const read = reader('channels.log == null');
    const trial = Trial.begin(chain({ reducer: 'replace', default: 7 }, [null], [read]));
    assert.deepEqual(trial.outputs('read'), { seen: true });
  });

  test('an empty channel is an error to read, and has() asks', () => {
    const channels = { log: { reducer: 'replace' } };
    assert.equal(
      errorOf(Trial.begin(workflow([reader('channels.log')], [], { channels }))),
      'expression_failed',
    );
    const asked = Trial.begin(workflow([reader('has(channels.log)')], [], { channels }));
    assert.deepEqual(asked.outputs('read'), { seen: false });
  });

  test('channels that nobody names are refused, and so is reading all of them', () => {
    const channels = { log: { reducer: 'replace' } };
    for (const expression of ['channels.other', 'channels', 'size(channels)'])
      assert.deepEqual(issuesOf(workflow([reader(expression)], [], { channels })), [
        '/nodes/0/inputs/seen/expression',
      ]);
  });
});

describe('access', () => {
  const read = node('read', 'core.identity', { inputs: { seen: formula('channels.log') } });
  const run = (access: ChannelDeclaration['access']) =>
    Trial.begin(chain({ reducer: 'counter', ...(access && { access }) }, [1], [read]));

  test('open unless it says otherwise; entries are node ids, type prefixes, or all', () => {
    for (const access of [
      undefined,
      'public',
      {},
      { readers: ['read'] },
      { writers: ['w0'] },
      { writers: ['core.channel*'], readers: ['*'] },
    ] as ChannelDeclaration['access'][])
      assert.equal(run(access).run.status, 'completed', JSON.stringify(access));
  });

  test('others are denied, by name', () => {
    const cases: [ChannelDeclaration['access'], string, string][] = [
      ['private', 'w0', 'writers'],
      [{ writers: [] }, 'w0', 'writers'],
      [{ writers: ['w', 'core.channel'] }, 'w0', 'writers'],
      [{ readers: ['other', 'core.ai.*'] }, 'read', 'readers'],
    ];
    for (const [access, nodeId, allowed] of cases) {
      const { error } = run(access).run;
      assert.equal(error?.code, 'channel_access_denied', JSON.stringify(access));
      assert.deepEqual(error?.details?.requestedBy, {
        nodeId,
        typeId: nodeId === 'read' ? 'core.identity' : 'core.channelWrite',
      });
      assert.equal(error?.details?.allowed, allowed);
    }
  });

  test('a condition on an edge is read by the node that the edge leaves', () => {
    const condition = { type: 'expression' as const, expression: 'channels.log > 0' };
    const definition = workflow([node('a'), node('b')], [edge('a>b', { condition })], {
      channels: { log: { reducer: 'counter', access: { readers: ['b'] } } },
    });
    const { error, failedNodeId } = Trial.begin(definition).run;
    assert.deepEqual([error?.code, failedNodeId], ['channel_access_denied', 'a']);
  });
});

describe('sensitive channels', () => {
  const definition = chain(
    { reducer: 'append', sensitive: true, ttlMs: 9 },
    ['hush'],
    [
      node('read', 'core.identity', {
        inputs: { seen: formula('channels.log[0].value') },
        outputSensitivity: { seen: true },
      }),
    ],
  );

  test('readers see the mask, nodes and the fold the value', () => {
    const trial = Trial.begin(definition);
    assert.equal(trial.payload('channel.written').value, '[REDACTED]');
    assert.equal(channelValue(trial), '[REDACTED]');
    assert.deepEqual(trial.outputs('read'), { seen: 'hush' });
    const visible = JSON.stringify([
      trial.events.map(({ payload }) => payload),
      snapshot(trial.plan, trial.run),
    ]);
    assert.doesNotMatch(visible, /hush/);
    assert.deepEqual(fold(newRun(facts()), JSON.parse(JSON.stringify(trial.events))), trial.run);
  });

  test('where values are left out, the event says null and the snapshot nothing', () => {
    const metadata = { complianceConfig: { maskingMode: 'omit' as const } };
    const trial = Trial.begin({ ...definition, metadata });
    assert.equal(trial.payload('channel.written').value, null);
    assert.deepEqual(snapshot(trial.plan, trial.run).channels, {});
    assert.deepEqual(trial.outputs('read'), { seen: 'hush' });
  });
});
