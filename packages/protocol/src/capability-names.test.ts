import assert from 'node:assert/strict';
import { test } from 'node:test';
import { capabilityAt, isKnownCapability, meantCapability, surfacesNamedBy } from './capability-names.ts';

test('a capability is known by its names and its parts, with and without a prefix', () => {
  for (const name of [
    'host.kvStorage',
    'storage.kv',
    'kvStorage.atomicIncrement',
    'openwop.agents.goals',
    'mcp',
  ])
    assert.ok(isKnownCapability(name), name);
  for (const name of ['host.kv', 'kvstorage', 'host.kvStorages', 'host.', ''])
    assert.ok(!isKnownCapability(name), name);
});

test('peer dependencies name surfaces in whole or in part', () => {
  const peers = ['host.kvStorage.compareAndSwap', 'queue', 'host.kanban', 'sqlite'];
  assert.deepEqual(surfacesNamedBy(peers), ['kvStorage', 'queueBus']);
});

test('what was meant is found by the usual slips', () => {
  const slips = {
    'host.kv': 'kvStorage',
    kvstorage: 'kvStorage',
    'host.table': 'tableStorage',
    vectors: 'vectorStore',
  };
  for (const [slip, meant] of Object.entries(slips)) assert.equal(meantCapability(slip), `host.${meant}`);
  assert.equal(meantCapability('host.xyzzy'), undefined);
  assert.equal(meantCapability(`host.kvStorage${'e'.repeat(1_000_000)}`), undefined);
});

test('members of ctx belong to a capability', () => {
  assert.equal(capabilityAt('storage.kv.nope'), 'kvStorage.nope');
  assert.equal(capabilityAt('storage.queue.peek'), 'queueBus.peek');
  assert.equal(capabilityAt('storage.kvx.get'), 'storage.kvx.get');
  assert.equal(capabilityAt('callAI'), 'aiProviders.callAI');
});
