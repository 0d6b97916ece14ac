/** What is particular to entries on Redis: work in stretches, numbers, keys. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { ENTRY_OVERHEAD_BYTES } from '../kv/entry-bytes.ts';
import { freshTenant, NOW, read, write } from '../testing/calls.ts';
import { openTestRedis, redisSkip } from '../testing/redis.ts';
import { sweep } from './act.ts';
import { redisCache } from './cache.ts';
import { openRedisDatabase, type RedisDatabase } from './connection.ts';
import { redisKv } from './kv.ts';
import { keysOf } from './places.ts';

const RETENTION = { invocationRetentionMs: 60_000 };
const MANY = 450;
const END = NOW + 1_000;
/** Of `k0` up to so many. */
const keyBytes = (many: number): number =>
  Array.from({ length: many }, (_, index) => `k${index}`).join('').length;

describe('entries on Redis', { skip: redisSkip }, () => {
  let opened: { database: RedisDatabase; stop(): Promise<void> } | null = null;
  const database = (): RedisDatabase => opened?.database ?? assert.fail('not open');
  before(async () => {
    const server = await openTestRedis();
    opened = { database: openRedisDatabase(server), stop: server.stop };
  });
  after(async () => {
    await opened?.database.close();
    await opened?.stop();
  });
  const kvOf = (quotaBytes = 1_000_000) => redisKv({ database: database(), quotaBytes, ...RETENTION });
  const fill = async (tenant: string, expiresAt: number | null) => {
    const kv = kvOf();
    const put = (index: number) =>
      kv.put({ namespace: '', key: `k${index}`, value: 'xxxxxxxx', expiresAt }, write(tenant));
    await Promise.all(Array.from({ length: MANY }, (_, index) => put(index)));
  };
  const exists = (tenant: string) =>
    database().ask((redis) => redis.exists(...keysOf('kv', tenant).slice(0, 4)));

  test('what has expired is swept, and nothing of it stays', async () => {
    const [gone, stays] = [freshTenant(), freshTenant()];
    await fill(gone, END);
    await kvOf().put({ namespace: '', key: 'a', value: 1, expiresAt: END + 1 }, write(stays));
    assert.equal(await sweep(database(), 'kv', END), MANY);
    assert.equal(await exists(gone), 0);
    assert.equal(await sweep(database(), 'kv', END), 0);
    assert.equal((await kvOf().get({ namespace: '', key: 'a' }, read(stays, END)))?.value, 1);
  });

  test('many expired entries make room, and are passed over by a list', async () => {
    const tenant = freshTenant();
    await fill(tenant, END);
    const quota = MANY * (ENTRY_OVERHEAD_BYTES + 14);
    const value = 'y'.repeat(quota - ENTRY_OVERHEAD_BYTES - 3);
    const last = { namespace: '', key: 'z', value, expiresAt: null };
    await assert.rejects(kvOf(quota).put(last, write(tenant)), { code: 'kv_quota_exhausted' });
    await kvOf().put({ ...last, value: 1 }, write(tenant));
    const range = { namespace: '', prefix: '', after: null, limit: 10 };
    assert.deepEqual(await kvOf().list(range, read(tenant, END)), ['z']);
    assert.deepEqual(await kvOf(quota).put(last, write(tenant, { now: END })), { replaced: true });
  });

  test('a list passes over expired keys in few calls, however few keys are asked for', async () => {
    const tenant = freshTenant();
    await fill(tenant, END);
    await kvOf().put({ namespace: '', key: 'z', value: 1, expiresAt: null }, write(tenant));
    let calls = 0;
    const counted: RedisDatabase = {
      ...database(),
      run: (...script) => {
        calls++;
        return database().run(...script);
      },
    };
    const kv = redisKv({ database: counted, quotaBytes: 1, ...RETENTION });
    const range = { namespace: '', prefix: '', after: null, limit: 2 };
    assert.deepEqual(await kv.list(range, read(tenant, END)), ['z']);
    assert.equal(calls, 1);
    assert.deepEqual(await kv.list({ ...range, prefix: 'k44' }, read(tenant)), ['k44', 'k440']);
    assert.deepEqual(await kv.list({ ...range, after: 'k98' }, read(tenant)), ['k99', 'z']);
  });

  test('what a version without overheads has counted is counted anew', async () => {
    const tenant = freshTenant();
    await fill(tenant, null);
    const [entries, , , size] = keysOf('kv', tenant);
    const old = size!.replace(/size$/, 'bytes');
    await database().ask((redis) => redis.rename(size!, old));
    const used = MANY * (ENTRY_OVERHEAD_BYTES + 10) + keyBytes(MANY);
    const put = (length: number) =>
      kvOf(used + ENTRY_OVERHEAD_BYTES + 13).put(
        { namespace: 'n', key: 'z', value: 'x'.repeat(length), expiresAt: null },
        write(tenant),
      );
    await assert.rejects(put(10), { code: 'kv_quota_exhausted' });
    await put(9);
    assert.equal(await database().ask((redis) => redis.exists(old)), 0);
    assert.equal(await database().ask((redis) => redis.hlen(entries!)), MANY + 1);
  });

  test('a namespace is evicted in stretches and counted as one', async () => {
    const cache = redisCache({ database: database(), capacityBytes: 1_000_000, ...RETENTION });
    const tenant = freshTenant();
    const put = (key: string, namespace: string) =>
      cache.put({ namespace, key, value: 1, expiresAt: END }, write(tenant));
    await Promise.all(Array.from({ length: MANY }, (_, index) => put(`k${index}`, 'n')));
    await put('k', 'other');
    const call = write(tenant);
    for (let time = 0; time < 2; time++)
      assert.deepEqual(await cache.evict({ namespace: 'n', key: null }, call), { evicted: MANY });
    assert.equal((await cache.get({ namespace: 'other', key: 'k' }, read(tenant)))?.value, 1);
  });

  test('a large value displaces many small ones', async () => {
    const cache = redisCache({ database: database(), capacityBytes: 200_000, ...RETENTION });
    const tenant = freshTenant();
    const put = (key: string, value: string) =>
      cache.put({ namespace: '', key, value, expiresAt: END }, write(tenant));
    await Promise.all(Array.from({ length: MANY }, (_, index) => put(`k${index}`, '')));
    await put('large', 'x'.repeat(199_700));
    assert.ok(await cache.get({ namespace: '', key: 'large' }, read(tenant)));
    assert.equal(await cache.get({ namespace: '', key: 'k1' }, read(tenant)), null);
    assert.deepEqual(await cache.evict({ namespace: '', key: null }, write(tenant)), { evicted: 1 });
  });

  test('sums are those of JavaScript, to the last bit', () =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.double({ min: -1e15, max: 1e15, noNaN: true })), async (deltas) => {
        const [kv, tenant] = [kvOf(), freshTenant()];
        let sum = 0;
        for (const delta of deltas) {
          const answer = await kv.increment({ namespace: '', key: 'n', delta }, write(tenant));
          assert.equal(answer.value, sum + delta + 0);
          sum += delta;
        }
        const swap = { namespace: '', key: 'n', expected: sum, value: 'done' };
        if (deltas.length > 0) assert.ok((await kv.compareAndSwap(swap, write(tenant))).swapped);
      }),
      { numRuns: 25 },
    ));

  test('tenants whose names look like keys of others share nothing', async () => {
    const kv = kvOf();
    const tenants = ['a', 'a:kv', 'a}:kv', 'a{b}', '{a}', 'a%7D', 'A', 'a ', 'a\n'];
    for (const tenant of tenants) {
      const call = write(tenant, { id: 'one' });
      assert.equal((await kv.increment({ namespace: '', key: 'k', delta: 1 }, call)).value, 1, tenant);
    }
    const spaces = ['', '1', ':', '1:', '0:', '2:k'];
    for (const namespace of spaces)
      assert.equal((await kv.increment({ namespace, key: '1:k', delta: 1 }, write('spaces'))).value, 1);
    for (const namespace of spaces) {
      const range = { namespace, prefix: '', after: null, limit: 10 };
      assert.deepEqual(await kv.list(range, read('spaces')), ['1:k'], namespace);
    }
  });
});
