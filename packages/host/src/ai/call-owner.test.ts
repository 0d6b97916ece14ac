import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownerOf } from '@gantry/protocol';
import { runOf } from '../runtime/outside-work.ts';
import { askingNode, nodeCaller } from './ai.ts';
import { nodeOf } from './models-port.ts';

const LIMITS = { maxNodeExecutions: 1, maxRunDurationMs: 1, maxLoopIterations: 1 };
const FACTS = {
  runId: 'run-1',
  workflowId: 'one',
  workflowHash: 'hash',
  owner: { tenant: 'acme', principal: 'ada' },
  createdAt: 0,
  inputs: {},
  configurable: {},
  tags: [],
  metadata: {},
  limits: LIMITS,
};

test('the owner of a model call is made once in a dispatch, and copied only into its caller', () => {
  const work = {
    ...runOf(FACTS, () => assert.fail('nothing asks for the state of the run')),
    epoch: 1,
    emit: async () => true,
    tell: async () => null,
  };
  assert.deepEqual(work.owner, ownerOf(FACTS.owner));
  const { signal } = new AbortController();
  const node = askingNode(work, 'n', { ordinalBase: 0, signal });
  assert.equal(node.owner, work.owner);
  const invocation = { id: 'i', journalKey: 'i', tenant: 'acme', runId: 'run-1', nodeId: 'n', ordinal: 0 };
  const of = { kind: 'node', runId: 'run-1', nodeId: 'n', ordinalBase: 0, effect: 'effect', work } as const;
  const call = {
    owner: work.owner,
    tenant: 'acme',
    caller: { ...of, pack: { name: 'p', version: '1.0.0' } },
    signal,
    now: 0,
    invocation: { ...invocation, method: 'ai.chat', fingerprint: 'f' },
  };
  assert.equal(nodeOf(call).owner, work.owner);
  assert.equal(nodeCaller(nodeOf(call), 0, 'ai').workspace, 'default');
});
