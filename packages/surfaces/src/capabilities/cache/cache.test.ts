/** `ctx.storage.cache` as packs call it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Data } from '../../calls/data.ts';
import { NOW } from '../../testing/calls.ts';
import { embeddedCallGate } from '../../testing/embedded-call-gate.ts';
import { nodeOf } from '../../testing/test-call-gate.ts';

test('every method of the contract and of published packs', async () => {
  const world = await embeddedCallGate();
  const call = nodeOf(world);
  assert.deepEqual(await call('storage.cache.get', { key: 'a' }), { hit: false });
  assert.deepEqual(await call('storage.cache.put', { key: 'a', value: [1], ttlSeconds: 5 }), { ok: true });
  world.clock.now += 4_999;
  assert.deepEqual(await call('storage.cache.get', { key: 'a' }), {
    value: [1],
    hit: true,
    ageMs: 4_999,
    storedAt: new Date(NOW).toISOString(),
    expiresAt: new Date(NOW + 5_000).toISOString(),
  });
  world.clock.now += 1;
  assert.deepEqual(await call('storage.cache.get', { key: 'a' }), { hit: false });
  await call('storage.cache.put', { namespace: 'n', key: 'b', value: 1 });
  await call('storage.cache.put', { namespace: 'n', key: 'c', value: 1 });
  assert.deepEqual(await call('storage.cache.delete', { namespace: 'n', key: 'b' }), { deleted: true });
  assert.deepEqual(await call('storage.cache.evict', { namespace: 'n' }), { evicted: 1 });
});

test('refuses what is over a limit', async () => {
  const world = await embeddedCallGate();
  const refused = (input: Data, code: string) =>
    assert.rejects(nodeOf(world)('storage.cache.put', input), { code });
  await refused({ key: 'k', value: 'x'.repeat(1_048_575), ttlSeconds: 1 }, 'cache_value_too_large');
  await refused({ key: 'k', value: 1, ttlSeconds: 86_401 }, 'cache_ttl_exceeds_max');
  await refused({ key: 'k'.repeat(1_025), value: 1, ttlSeconds: 1 }, 'validation_error');
});

test('another tenant sees and evicts nothing', async () => {
  const world = await embeddedCallGate();
  await nodeOf(world)('storage.cache.put', { key: 'k', value: 'ours' });
  const other = nodeOf(world, { tenant: 'other' });
  assert.deepEqual(await other('storage.cache.get', { key: 'k' }), { hit: false });
  assert.deepEqual(await other('storage.cache.evict', { key: 'k' }), { evicted: 0 });
  assert.equal(((await nodeOf(world)('storage.cache.get', { key: 'k' })) as { value: string }).value, 'ours');
});
