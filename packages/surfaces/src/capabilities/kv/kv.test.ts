/** `ctx.storage.kv` as packs call it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createCursors } from '../../calls/cursor.ts';
import type { Data } from '../../calls/data.ts';
import { openEmbeddedDatabase } from '../../sqlite/database.ts';
import { embeddedKv } from '../../sqlite/kv.ts';
import { freshFolder } from '../../testing/data-dir.ts';
import { embeddedCallGate } from '../../testing/embedded-call-gate.ts';
import { callGateOf, nodeOf, type TestCallGate } from '../../testing/test-call-gate.ts';
import { implementKv } from './surface.ts';

/** Each call is a node of its own, so that places in a node do not matter. */
let nodes = 0;
const once = (world: TestCallGate, path: string, input: Data, tenant = 'acme') =>
  nodeOf(world, { tenant, nodeId: `n${nodes++}` })(path, input);

describe('kvStorage', () => {
  test('every method of the contract, with its answers', async () => {
    const world = await embeddedCallGate();
    const call = nodeOf(world);
    assert.deepEqual(await call('storage.kv.put', { key: 'a', value: { b: 1 } }), {
      ok: true,
      replaced: false,
    });
    const found = { value: { b: 1 }, found: true, ttlRemainingMs: null };
    assert.deepEqual(await call('storage.kv.get', { key: 'a' }), found);
    assert.deepEqual(await call('storage.kv.get', { key: 'b' }), { found: false, ttlRemainingMs: null });
    assert.deepEqual(await call('storage.kv.atomicIncrement', { key: 'n' }), { value: 1, previous: 0 });
    assert.deepEqual(await call('storage.kv.atomicIncrement', { key: 'n', delta: -3 }), {
      value: -2,
      previous: 1,
    });
    const stale = { key: 'n', expectedValue: 9, newValue: 0 };
    assert.deepEqual(await call('storage.kv.compareAndSwap', stale), { swapped: false, actual: -2 });
    const fresh = { key: 'n', expectedValue: -2, newValue: 0 };
    assert.deepEqual(await call('storage.kv.compareAndSwap', fresh), { swapped: true });
    assert.deepEqual(await call('storage.kv.delete', { key: 'a' }), { deleted: true });
    assert.deepEqual(await call('storage.kv.list', {}), {
      entries: [{ key: 'n' }],
      keys: ['n'],
    });
  });

  test('the spellings of published packs', async () => {
    const call = nodeOf(await embeddedCallGate());
    await call('storage.kv.set', { namespace: 'n', key: 'a', value: 1, ttlSeconds: 60 });
    const there = await call('storage.kv.get', { namespace: 'n', key: 'a' });
    assert.equal((there as { ttlRemainingMs: number }).ttlRemainingMs, 60_000);
    const swap = { namespace: 'n', key: 'a', expect: 1, set: 2 };
    assert.deepEqual(await call('storage.kv.cas', swap), { swapped: true });
    assert.deepEqual(await call('storage.kv.get', { key: 'a' }), { found: false, ttlRemainingMs: null });
  });

  test('is gone within a second of its time', async () => {
    const world = await embeddedCallGate();
    await once(world, 'storage.kv.put', { key: 'a', value: 1, ttlSeconds: 2 });
    world.clock.now += 1_999;
    assert.equal(((await once(world, 'storage.kv.get', { key: 'a' })) as { found: boolean }).found, true);
    world.clock.now += 1;
    assert.equal(((await once(world, 'storage.kv.get', { key: 'a' })) as { found: boolean }).found, false);
  });

  test('refuses what is over a limit, and what no key can be', async () => {
    const world = await embeddedCallGate();
    const refused = (input: Data, code: string) =>
      assert.rejects(once(world, 'storage.kv.put', input), { code });
    for (const size of [257, 4_097, 100_000])
      await refused({ key: 'k'.repeat(size), value: 1 }, 'kv_key_too_large');
    await refused({ key: 'é'.repeat(129), value: 1 }, 'kv_key_too_large');
    await refused({ key: 'k', value: 'x'.repeat(1_048_575) }, 'kv_value_too_large');
    await refused({ key: 'k', value: 1, ttlSeconds: 2_592_001 }, 'kv_ttl_exceeds_max');
    for (const key of ['', 'a\0b', 'half \ud800']) await refused({ key, value: 1 }, 'validation_error');
    for (const ttlSeconds of [0, -1, '5'])
      await refused({ key: 'k', value: 1, ttlSeconds }, 'validation_error');
    await refused({ key: 'k', value: new Uint8Array(2) }, 'validation_error');
    await refused({ key: 'k', value: [{ deep: new Uint8Array(2) }] }, 'validation_error');
    await once(world, 'storage.kv.put', { key: 'k'.repeat(256), value: 'x'.repeat(1_048_574) });
  });

  test('a tenant without room is refused what is too much, and no more', async (t) => {
    const folder = freshFolder();
    const database = await openEmbeddedDatabase({ dataDir: folder.path });
    t.after(async () => {
      await database.close();
      folder.remove();
    });
    const port = embeddedKv(database, { quotaBytes: 3_000_000 });
    const world = callGateOf([implementKv({ port, cursors: createCursors(new Uint8Array(32)) })]);
    const values = Array.from({ length: 4 }, (_, index) => ({
      key: `v${index}`,
      value: 'x'.repeat(1_000_000),
    }));
    const answers = await Promise.allSettled(values.map((value) => once(world, 'storage.kv.put', value)));
    const codes = answers.flatMap((each) => (each.status === 'rejected' ? [each.reason.code] : []));
    assert.deepEqual(codes, ['kv_quota_exhausted', 'kv_quota_exhausted']);
  });

  test('names that mean something to JavaScript are keys like any other', async () => {
    const call = nodeOf(await embeddedCallGate());
    for (const key of ['__proto__', 'constructor', 'toString']) {
      assert.equal(((await call('storage.kv.get', { key })) as { found: boolean }).found, false);
      assert.deepEqual(await call('storage.kv.atomicIncrement', { key }), { value: 1, previous: 0 });
    }
  });
});

describe('cursors', () => {
  const page = async (world: TestCallGate, input: { [name: string]: Data }, tenant = 'acme') =>
    (await once(world, 'storage.kv.list', input, tenant)) as { keys: string[]; nextCursor?: string };

  test('walk every key once', async () => {
    const world = await embeddedCallGate();
    const keys = Array.from({ length: 7 }, (_, index) => `p:${index}`);
    for (const key of [...keys, 'q']) await once(world, 'storage.kv.put', { key, value: 0 });
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const found = await page(world, { prefix: 'p:', limit: 3, ...(cursor !== undefined && { cursor }) });
      seen.push(...found.keys);
      cursor = found.nextCursor;
    } while (cursor !== undefined);
    assert.deepEqual(seen, keys);
  });

  test('are refused to another tenant, another listing, and when made up', async () => {
    const world = await embeddedCallGate();
    for (const tenant of ['acme', 'other'])
      for (const key of ['a', 'b', 'c']) await once(world, 'storage.kv.put', { key, value: tenant }, tenant);
    const { nextCursor } = await page(world, { limit: 1 });
    assert.ok(nextCursor);
    const refused = (cursor: string, input = {}, tenant = 'acme') =>
      assert.rejects(page(world, { ...input, cursor }, tenant), {
        code: 'validation_error',
        message: /cursor/,
      });
    await refused(nextCursor, {}, 'other');
    await refused(nextCursor, { prefix: 'a' });
    await refused(nextCursor, { namespace: 'n' });
    const bytes = Buffer.from(nextCursor, 'base64url');
    for (const index of [0, bytes.length - 1]) {
      const bent = Buffer.from(bytes);
      bent[index]! ^= 1;
      await refused(bent.toString('base64url'));
    }
    for (const made of ['a', '!!!', Buffer.from('b').toString('base64url'), 'x'.repeat(4_096)])
      await refused(made);
    assert.deepEqual((await page(world, { cursor: nextCursor, limit: 9 })).keys, ['b', 'c']);
  });
});

test('a node that runs again reads now, and writes what it wrote', async () => {
  const world = await embeddedCallGate();
  for (let run = 0; run < 3; run++) {
    const call = nodeOf(world, { nodeId: 'counting' });
    assert.deepEqual(await call('storage.kv.atomicIncrement', { key: 'n' }), { value: 1, previous: 0 });
    await call('storage.kv.get', { key: 'n' });
    assert.deepEqual(await call('storage.kv.atomicIncrement', { key: 'n' }), { value: 2, previous: 1 });
  }
  await assert.rejects(nodeOf(world, { nodeId: 'counting' })('storage.kv.delete', { key: 'n' }), {
    code: 'idempotency_key_mismatch',
  });
  assert.equal(((await once(world, 'storage.kv.get', { key: 'n' })) as { value: number }).value, 2);
});
