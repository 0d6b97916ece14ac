import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onePerFile } from '../testing/one-per-file.ts';
import { apiTest, assertError } from './testing/api-test.ts';

const chain = (chainId: string, nodes: object[], more: object = {}) => ({
  chainId,
  version: '1.0.0',
  label: chainId,
  description: 'A chain of a test',
  parameters: {
    type: 'object',
    properties: { words: { type: 'string', default: 'nothing' } },
    additionalProperties: false,
  },
  dag: { nodes, edges: nodes.slice(1).map((_, i) => ({ from: `n${i}`, to: `n${i + 1}` })) },
  ...more,
});
const say = (id: string) => ({
  id,
  typeId: 'core.identity',
  inputs: { said: 'You said {{params.words}}' },
});

const openApi = onePerFile(apiTest);

test('a chain becomes a workflow that runs with its parameters written down', async () => {
  const api = await openApi();
  const made = await api.post('/v1/host/gantry/workflows/from-chain', {
    chainId: 'say',
    chains: [chain('say', [say('n0'), { id: 'n1', typeId: 'core.noop' }])],
    parameters: { words: 'hello' },
  });
  assert.equal(made.statusCode, 201, made.body);
  const { workflowId, nodeCount, subChainWorkflowIds } = made.json();
  assert.deepEqual([nodeCount, subChainWorkflowIds], [2, []]);
  const runId = await api.start(workflowId);
  assert.equal((await api.ended(runId)).status, 'completed');
  const { events } = (await api.get(`/v1/runs/${runId}/events/poll`)).json();
  assert.ok(JSON.stringify(events).includes('You said hello'));
});

test('a chain with open parameters takes them anew in each run', async () => {
  const api = await openApi();
  const made = await api.post('/v1/host/gantry/workflows/from-chain', {
    chainId: 'open',
    chains: [chain('open', [say('n0')])],
    deferred: true,
  });
  assert.equal(made.statusCode, 201, made.body);
  const { workflowId } = made.json();
  for (const [configurable, expected] of [
    [{}, 'nothing'],
    [{ words: 'again' }, 'again'],
  ] as const) {
    const snapshot = await api.ended(await api.start(workflowId, { configurable }));
    assert.equal(snapshot.status, 'completed');
    assert.deepEqual(Object.values(Object(snapshot.variables)), [expected]);
  }
});

test('a composed chain registers its children with it, or nothing at all', async () => {
  const api = await openApi();
  const parent = chain(
    'parent',
    [{ id: 'n0', typeId: 'core.subWorkflow', config: { subChainRef: 'child', waitForCompletion: true } }],
    { subChains: [{ ref: 'child' }] },
  );
  const request = { chainId: 'parent', chains: [parent, chain('child', [say('n0')])] };
  const made = await api.post('/v1/host/gantry/workflows/from-chain', request);
  assert.equal(made.statusCode, 201, made.body);
  const { workflowId, subChainWorkflowIds } = made.json();
  assert.equal(subChainWorkflowIds.length, 1);
  assert.equal((await api.ended(await api.start(workflowId))).status, 'completed');

  const before = (await api.get('/v1/host/gantry/workflows')).json().workflows.length;
  const broken = { ...request, chains: [{ ...parent, subChains: [{ ref: 'gone' }] }] };
  assert.equal((await api.post('/v1/host/gantry/workflows/from-chain', broken)).statusCode, 400);
  assertError(
    await api.post('/v1/host/gantry/workflows/from-chain', { ...request, chainId: 'other' }),
    404,
    'chain_not_found',
  );
  assert.equal((await api.get('/v1/host/gantry/workflows')).json().workflows.length, before);
});
