/** `ctx.storage.cache` over a backend: what the surface promises whatever stands behind it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Data } from '../calls/data.ts';
import { implementCache } from '../capabilities/cache/surface.ts';
import { freshTenant } from '../testing/calls.ts';
import { HOSTILE_TEXTS } from '../testing/hostile-texts.ts';
import { callGateOf, nodeOf } from '../testing/test-call-gate.ts';
import type { CachePort } from './cache.ts';

export function cacheSurfaceTests(port: () => CachePort): void {
  let nodes = 0;
  const callsOf = (tenant: string) => {
    const world = callGateOf([implementCache({ port: port() })]);
    return async (method: string, input: Data) =>
      (await nodeOf(world, { tenant, nodeId: `n${nodes++}` })(`storage.cache.${method}`, input)) as {
        readonly [name: string]: Data;
      };
  };

  test('nothing in a key, a namespace or a value has a meaning of its own', async () => {
    const [tenant, other] = [callsOf(freshTenant()), callsOf(freshTenant())];
    for (const text of HOSTILE_TEXTS) {
      await tenant('put', { key: text, value: text, ttlSeconds: 60 });
      for (const key of ['k', text])
        await tenant('put', { key, namespace: text, value: { [text]: [text] }, ttlSeconds: 60 });
    }
    for (const text of HOSTILE_TEXTS) {
      assert.equal((await tenant('get', { key: text })).value, text);
      assert.deepEqual((await tenant('get', { key: text, namespace: text })).value, { [text]: [text] });
      assert.equal((await other('get', { key: text })).hit, false);
      assert.deepEqual(await other('evict', { namespace: text }), { evicted: 0 });
      assert.deepEqual(await tenant('delete', { key: text }), { deleted: true });
      assert.deepEqual(await tenant('evict', { namespace: text }), { evicted: 2 });
    }
    assert.deepEqual(await tenant('evict', {}), { evicted: 0 });
  });
}
