import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ChannelDeclaration, WorkflowNode } from '@gantry/protocol';
import { errorOf, issuesOf, write } from '../testing/channels.ts';
import { node, Trial, workflow } from '../testing/workflow.ts';
import { ENTRIES_MAX } from './write.ts';

describe('definitions', () => {
  const channels = { log: { reducer: 'append' } };

  test('channels and variables have names of their own', () => {
    const variables = [{ name: 'log', type: 'array' as const }];
    assert.deepEqual(issuesOf(workflow([node('a')], [], { channels, variables })), ['/channels/log']);
    assert.deepEqual(issuesOf(workflow([write('a', 1)], [], { variables })), ['/nodes/0/config/channelName']);
    const set = node('a', 'core.setVariable', { config: { name: 'log', value: 1 } });
    assert.deepEqual(issuesOf(workflow([set], [], { channels })), ['/nodes/0/config/name']);
  });

  test('variables that stand for channels on older hosts are refused', () => {
    for (const name of ['_approvalVotes:gate', 'wfArtifactData_n', '_activeClarification']) {
      const variables = [{ name, type: 'array' as const }];
      assert.deepEqual(issuesOf(workflow([node('a')], [], { variables })), ['/variables/0/name'], name);
    }
    const variables = [{ name: '_approvalVotes', type: 'array' as const }];
    assert.deepEqual(issuesOf(workflow([node('a')], [], { variables })), []);
  });

  test('work that comes back with a value for a channel is refused', () => {
    const trial = Trial.begin(workflow([node('out', 'core.conformance.side-effect')], [], { channels }));
    trial.settle('out', { ok: true, outputs: {}, variables: { log: 1 } });
    assert.equal(errorOf(trial), 'validation_error');
  });

  test('what a node says of a channel must hold', () => {
    const bad: [WorkflowNode[], string[]][] = [
      [[write('a', 1, { config: { reducer: 'counter' } })], ['/nodes/0/config/reducer']],
      [[write('a', 1, { config: { ttlMs: 5 } })], ['/nodes/0/config/ttlMs']],
      [[write('a', 1, { config: { ttlMs: 0 } })], []],
      [
        [write('a', 1, {}, 'x'), write('b', 1, { config: { reducer: 'counter' } }, 'x')],
        ['/nodes/1/config/reducer'],
      ],
      [[write('a', 1, { config: { reducer: 'counter' } }, 'x'), write('b', 1, {}, 'x')], ['/nodes/1/config']],
      [[write('a', 1, { config: { ttlMs: 5 } }, 'x'), write('b', 1, {}, 'x')], ['/nodes/1/config/ttlMs']],
      [[write('a', 1, {}, '__proto__')], ['/nodes/0/config/channelName']],
      [[node('a', 'core.channelWrite', { config: { channelName: 'log' } })], ['/nodes/0/config']],
    ];
    for (const [nodes, paths] of bad) assert.deepEqual(issuesOf(workflow(nodes, [], { channels })), paths);
    const wrong = { channelName: 7, reducer: 'made-up', ttlMs: -1, value: 1 };
    assert.equal(issuesOf(workflow([node('a', 'core.channelWrite', { config: wrong })])).length, 3);
  });

  test('declarations that cannot hold are refused', () => {
    const bad: [ChannelDeclaration, string][] = [
      [{ reducer: 'append', default: 1 }, '/channels/log/default'],
      [{ reducer: 'counter', default: [] }, '/channels/log/default'],
      [{ reducer: 'append', maxSize: ENTRIES_MAX + 1 }, '/channels/log/maxSize'],
      [{ reducer: 'replace', schema: { type: 'nothing' } }, '/channels/log/schema'],
    ];
    for (const [declaration, path] of bad)
      assert.deepEqual(issuesOf(workflow([node('a')], [], { channels: { log: declaration } })), [path]);
  });
});
