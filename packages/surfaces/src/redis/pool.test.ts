import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openCache } from '../cache/open-cache.ts';
import { implementCache } from '../cache/surface.ts';
import { createCursors } from '../cursor.ts';
import { openEmbeddedDatabase } from '../embedded/database.ts';
import { openKv } from '../kv/open-kv.ts';
import { implementKv } from '../kv/surface.ts';
import { createPostgresPool } from '../postgres/connection.ts';
import { NOW, read } from '../testing/calls.ts';
import { freshFolder } from '../testing/data-dir.ts';
import { deskOf, nodeOf } from '../testing/desk.ts';
import { openPrivateRedis, openTestRedis, privateRedisSkip, redisSkip } from '../testing/redis.ts';
import { createRedisPool } from './pool.ts';

async function deps(t: { after(work: () => Promise<void>): void }) {
  const folder = freshFolder();
  const embedded = await openEmbeddedDatabase({ dataDir: folder.path });
  const said: string[] = [];
  const redis = createRedisPool({ invocationRetentionMs: 60_000, report: (text) => said.push(text) });
  t.after(async () => {
    await redis.close();
    await embedded.close();
    folder.remove();
  });
  return { embedded, pool: createPostgresPool(), redis, quotaBytes: 9_999, capacityBytes: 9_999, said };
}

describe('surfaces on Redis', { skip: redisSkip }, () => {
  test('answer pack code as embedded ones do', async (t) => {
    const server = await openTestRedis();
    t.after(server.stop);
    const options = await deps(t);
    const kv = await openKv(server.url, options);
    const cache = await openCache(server.url, options);
    await Promise.all([kv.health(), cache.health()]);
    const cursors = createCursors(new Uint8Array(32));
    const world = deskOf([implementKv({ port: kv.port, cursors }), implementCache({ port: cache.port })]);
    for (let run = 0; run < 2; run++) {
      const call = nodeOf(world);
      assert.deepEqual(await call('storage.kv.atomicIncrement', { key: 'n' }), { value: 1, previous: 0 });
      await call('storage.kv.put', { key: 'gone', value: 1, ttlSeconds: 5 });
      await call('storage.cache.put', { key: 'a', value: 1, ttlSeconds: 5 });
      const listed = await call('storage.kv.list', {});
      assert.deepEqual(listed, { entries: [{ key: 'gone' }, { key: 'n' }], keys: ['gone', 'n'] });
    }
    assert.equal(await options.redis.sweep(NOW + 5_000), 2);
    assert.equal(await options.redis.sweep(NOW + 5_000), 0);
    assert.equal(options.redis.open(server.url), options.redis.open(server.url));
  });
});

describe('what a server is asked for', { skip: privateRedisSkip }, () => {
  test('keys need one that keeps them, and are told of one that may lose some; a cache takes any', async (t) => {
    const [lax, forgetful] = await Promise.all([
      openPrivateRedis('--appendfsync', 'everysec'),
      openPrivateRedis('--appendonly', 'no'),
    ]);
    t.after(() => Promise.all([lax.stop(), forgetful.stop()]));
    const options = await deps(t);
    await (await openKv(lax.url, options)).health();
    assert.match(options.said.join(), /^GANTRY_KV: Redis at 127\.0\.0\.1:\d+ has appendfsync everysec/);
    await (await openCache(forgetful.url, options)).health();
    const kv = await openKv(forgetful.url, options);
    const refused = { code: 'storage_unavailable', message: /appendonly/ };
    await assert.rejects(kv.health(), refused);
    await assert.rejects(kv.port.get({ namespace: '', key: 'k' }, read('acme')), refused);
    assert.equal(options.said.length, 1);
  });
});
