/** `ctx.storage.kv` over a backend: what the surface promises whatever stands behind it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCursors } from '../calls/cursor.ts';
import type { Data } from '../calls/data.ts';
import { implementKv } from '../capabilities/kv/surface.ts';
import { freshTenant } from '../testing/calls.ts';
import { HOSTILE_TEXTS } from '../testing/hostile-texts.ts';
import { callGateOf, nodeOf } from '../testing/test-call-gate.ts';
import type { KvPort } from './kv.ts';

type Answer = { readonly [name: string]: Data };

export function kvSurfaceTests(port: () => KvPort): void {
  let nodes = 0;
  const callsOf = (tenant: string) => {
    const world = callGateOf([
      implementKv({ port: port(), cursors: createCursors(new Uint8Array(32).fill(1)) }),
    ]);
    return async (method: string, input: Data) =>
      (await nodeOf(world, { tenant, nodeId: `n${nodes++}` })(`storage.kv.${method}`, input)) as Answer;
  };

  test('a cursor belongs to its tenant and its listing', async () => {
    const [ours, theirs] = [callsOf(freshTenant()), callsOf(freshTenant())];
    for (const call of [ours, theirs])
      for (const key of ['a', 'b', 'c']) await call('put', { key, value: 0 });
    const { nextCursor } = await ours('list', { limit: 1 });
    assert.ok(nextCursor);
    const refused = { code: 'validation_error', message: /cursor/ };
    await assert.rejects(theirs('list', { cursor: nextCursor }), refused);
    await assert.rejects(ours('list', { cursor: nextCursor, namespace: 'n' }), refused);
    await assert.rejects(ours('list', { cursor: nextCursor, prefix: 'a' }), refused);
    assert.deepEqual((await ours('list', { cursor: nextCursor })).keys, ['b', 'c']);
  });

  test('a page is as long as it may be, however much was asked for', async () => {
    const call = callsOf(freshTenant());
    for (const key of ['a', 'b', 'c']) await call('put', { key, value: 0 });
    for (const limit of [1_001, 5_000, 1e300])
      assert.deepEqual((await call('list', { limit })).keys, ['a', 'b', 'c']);
    for (const limit of [0, 1.5]) await assert.rejects(call('list', { limit }), { code: 'validation_error' });
  });

  test('nothing in a key, a namespace or a value has a meaning of its own', async () => {
    const [tenant, other] = [callsOf(freshTenant()), callsOf(freshTenant())];
    for (const text of HOSTILE_TEXTS) {
      await tenant('put', { key: text, value: text });
      await tenant('put', { key: 'k', namespace: text, value: { [text]: [text] } });
    }
    for (const text of HOSTILE_TEXTS) {
      assert.equal((await tenant('get', { key: text })).value, text);
      assert.deepEqual((await tenant('get', { key: 'k', namespace: text })).value, { [text]: [text] });
      assert.deepEqual((await tenant('list', { namespace: text })).keys, ['k']);
      const swap = { key: text, expectedValue: text, newValue: 1 };
      assert.deepEqual(await tenant('compareAndSwap', swap), { swapped: true });
      assert.deepEqual(await tenant('atomicIncrement', { key: text }), { value: 2, previous: 1 });
      assert.equal((await other('get', { key: text })).found, false);
    }
    const { keys } = await tenant('list', { limit: 100 });
    assert.deepEqual([...(keys as string[])].sort(), [...HOSTILE_TEXTS].sort());
    for (const key of HOSTILE_TEXTS) assert.deepEqual(await tenant('delete', { key }), { deleted: true });
    assert.deepEqual((await tenant('list', {})).keys, []);
  });
}
