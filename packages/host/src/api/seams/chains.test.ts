import assert from 'node:assert/strict';
import { test } from 'node:test';
import { archiveOf } from '@gantry/packs';
import { PACKS_URL } from '../../packs/testing/pack-test.ts';
import { assertError } from '../testing/api-test.ts';
import { seamTest } from './testing/seam-test.ts';

const EXPAND = '/v1/host/sample/workflow-chain:expand';
const DEFER = '/v1/host/sample/chain/deferred-expand';
const packName = 'private.inline';
const chainId = 'private.greet';
const chain = {
  chainId,
  version: '1.2.0',
  label: 'Greet',
  description: 'Two steps.',
  capabilities: ['cacheable'],
  parameters: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  dag: {
    nodes: [
      { id: 'first', typeId: 'core.noop', config: { text: 'Hello {{params.name}}' } },
      { id: 'second', typeId: 'core.noop' },
    ],
    edges: [{ from: 'first.output', to: 'second.input' }],
  },
};

test('an inline chain is expanded in the form of its manifest', async (t) => {
  const api = await seamTest(t);
  const body = { packName, chainId, parameters: { name: 'Ada' }, chain };
  const { expansionId, nodes, edges, ...rest } = await api.drive('workflow-chain:expand', body);
  assert.match(expansionId, /^[0-9a-f]+$/);
  assert.deepEqual(rest, { chainId, packName, packVersion: '1.2.0' });
  const prefix = `private_greet_${expansionId}_`;
  assert.equal(nodes[0].id, `${prefix}first`);
  assert.equal(nodes[0].config.text, 'Hello Ada');
  assert.deepEqual(nodes[1].capabilities, ['cacheable']);
  assert.equal(edges[0].from, `${prefix}first.output`);
  assert.equal(edges[0].to, `${prefix}second.input`);
});

test('what cannot be expanded is refused with its own code', async (t) => {
  const { post } = await seamTest(t);
  const parameters = { name: 'Ada' };
  assertError(await post(EXPAND, { packName, chainId, parameters }), 404, 'pack_not_found');
  assertError(await post(EXPAND, { packName, chainId: 'x', parameters, chain }), 404, 'chain_not_found');
  assertError(await post(EXPAND, { packName, parameters }), 422, 'invalid_request');
  assertError(await post(EXPAND, { packName, chainId, chain }), 400, 'chain_parameter_invalid');
  assertError(await post(DEFER, { chainId: 'conformance.other' }), 404, 'chain_not_found');
});

test('an installed sample pack is expanded, and discovery then says so', async (t) => {
  const api = await seamTest(t);
  const name = 'vendor.openwop.workflow-chain-sample';
  const seamOf = async () =>
    (await api.get('/.well-known/openwop')).json().workflowChainPacks?.hostExpansionSeam;
  assert.equal(await seamOf(), undefined);
  const single = { ...chain, chainId: `${name}.one`, dag: { nodes: chain.dag.nodes.slice(0, 1) } };
  const engines = { openwop: '>=1.0.0 <2.0.0' };
  const chains = [single, { ...chain, chainId: `${name}.two`, capabilities: ['side-effectful'] }];
  const manifest = { name, version: '2.1.0', kind: 'workflow-chain', engines, chains };
  const { bytes } = await archiveOf(new Map([['pack.json', Buffer.from(JSON.stringify(manifest))]]));
  const headers = { 'content-type': 'application/gzip' };
  const installed = await api.request({ method: 'POST', url: PACKS_URL, payload: bytes, headers });
  assert.equal(installed.statusCode, 201, installed.body);
  assert.equal(await seamOf(), true);
  const parameters = { name: 'Ada' };
  const one = await api.drive('workflow-chain:expand', {
    packName: name,
    chainId: `${name}.one`,
    parameters,
  });
  assert.deepEqual([one.packVersion, one.nodes.length, one.edges], ['2.1.0', 1, []]);
  assert.equal(one.nodes[0].config.text, 'Hello Ada');
  const two = await api.drive('workflow-chain:expand', {
    packName: name,
    chainId: `${name}.two`,
    parameters,
  });
  const prefix = `${name.replaceAll('.', '_')}_two_${two.expansionId}_`;
  assert.deepEqual(two.edges[0], {
    ...two.edges[0],
    from: `${prefix}first.output`,
    to: `${prefix}second.input`,
  });
  for (const each of two.nodes) assert.deepEqual(each.capabilities, ['side-effectful']);
  assertError(
    await api.post(EXPAND, { packName: name, chainId: 'none', parameters }),
    404,
    'chain_not_found',
  );
});

test('a run overrides a deferred parameter by its bare name, and its replay says the same', async (t) => {
  const api = await seamTest(t);
  const params = { topic: 'default-topic' };
  const chain = { chainId: 'conformance.deferred', params };
  assert.equal((await api.drive('chain/deferred-expand', chain)).resolved, 'default-topic');
  const override = { topic: 'run-topic' };
  const { resolved, forkResolved } = await api.drive('chain/deferred-expand', {
    ...chain,
    override,
    fork: true,
  });
  assert.deepEqual([resolved, forkResolved], ['run-topic', 'run-topic']);
});

test('deferred parameters are variables by their own names, with the format of texts', async (t) => {
  const api = await seamTest(t);
  const properties = {
    email: { type: 'string', format: 'email' },
    note: { type: 'string', format: 'vendor.acme.freeform' },
    count: { type: 'number' },
  };
  const body = { chain: { parameters: { type: 'object', properties } } };
  assert.deepEqual((await api.drive('chain/deferred-expand', body)).variables, [
    { name: 'email', type: 'string', required: false, format: 'email' },
    { name: 'note', type: 'string', required: false, format: 'vendor.acme.freeform' },
    { name: 'count', type: 'number', required: false },
  ]);
});

test('chains of installed packs are expanded by name', async (t) => {
  const api = await seamTest(t);
  const chain = {
    chainId: 'review',
    version: '1.0.0',
    label: 'Review',
    description: 'Reviews.',
    parameters: { type: 'object', properties: {} },
    dag: { nodes: [{ id: 'a', typeId: 'core.noop' }], edges: [] },
  };
  const manifest = {
    name: 'vendor.acme.chains',
    version: '2.1.0',
    kind: 'workflow-chain',
    engines: { openwop: '>=1.0.0' },
    chains: [chain],
  };
  const { bytes } = await archiveOf(new Map([['pack.json', Buffer.from(JSON.stringify(manifest))]]));
  const headers = { 'content-type': 'application/gzip' };
  const installed = await api.request({
    method: 'POST',
    url: '/v1/host/gantry/packs',
    payload: bytes,
    headers,
  });
  assert.equal(installed.statusCode, 201, installed.body);
  assert.deepEqual(installed.json().chainIds, ['review']);
  const named = { packName: 'vendor.acme.chains', chainId: 'review', parameters: {} };
  const expanded = await api.drive('workflow-chain:expand', named);
  assert.deepEqual([expanded.packVersion, expanded.nodes.length], ['2.1.0', 1]);
  const url = '/v1/host/sample/workflow-chain:expand';
  assertError(await api.post(url, { ...named, chainId: 'none' }), 404, 'chain_not_found');
});
