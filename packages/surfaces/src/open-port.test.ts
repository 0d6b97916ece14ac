import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCursors } from './calls/cursor.ts';
import { implementCache } from './capabilities/cache/surface.ts';
import { implementKv } from './capabilities/kv/surface.ts';
import { implementTable, TABLE_LIMITS } from './capabilities/table/surface.ts';
import { openCache, openDocuments, openKv } from './open-backends.ts';
import { openPort } from './open-port.ts';
import { createPostgresPool } from './postgres/connection.ts';
import { sweepPostgres } from './postgres/sweep.ts';
import { openEmbeddedDatabase } from './sqlite/database.ts';
import { NOW } from './testing/calls.ts';
import { freshFolder } from './testing/data-dir.ts';
import { deskOf, nodeOf } from './testing/desk.ts';
import { openTestPostgres, postgresSkip } from './testing/postgres.ts';

test('a scheme that is not served is named, and the rest of the setting is not', async () => {
  const refused = (value: string) =>
    openPort({ name: 'GANTRY_KV', value, embedded: null, backends: { postgres: () => assert.fail() } });
  await assert.rejects(refused('mongo://ada:open-sesame@db/x'), (error: Error) => {
    assert.match(error.message, /GANTRY_KV asks for "mongo:\/\/".*use postgres:\/\//);
    assert.doesNotMatch(error.message, /open-sesame/);
    return true;
  });
  await assert.rejects(refused('open-sesame'), /^Error: GANTRY_KV is not a valid URL/);
  await assert.rejects(refused('postgres://ada:open#sesame@db/x'), (error: Error) => {
    assert.match(error.message, /GANTRY_KV is not a valid URL; .* in a password must be percent-encoded/);
    assert.doesNotMatch(error.message, /sesame/);
    return true;
  });
  await assert.rejects(refused('constructor:x'), /not served/);
  for (const place of [
    'ada:50%sesame@db/x',
    'ada:12#sesame@db',
    'ada:12/sesame@db',
    'ada:1?sesame@db',
    'db/%zz',
  ])
    await assert.rejects(refused(`postgres://${place}`), (error: Error) => {
      assert.match(
        error.message,
        /^GANTRY_KV is not a valid URL; .* in a password must be percent-encoded/,
        place,
      );
      assert.doesNotMatch(error.message, /sesame/);
      return true;
    });
});

test('surfaces on PostgreSQL answer pack code as embedded ones do', { skip: postgresSkip }, async (t) => {
  const folder = freshFolder();
  const embedded = await openEmbeddedDatabase({ dataDir: folder.path });
  const server = await openTestPostgres();
  const pool = createPostgresPool();
  t.after(async () => {
    await pool.close();
    await server.close();
    await embedded.close();
    folder.remove();
  });
  const deps = { embedded, pool, quotaBytes: 9_999, capacityBytes: 9_999, limits: TABLE_LIMITS };
  const cursors = createCursors(new Uint8Array(32));
  const kv = await openKv(server.url, deps);
  const cache = await openCache(server.url, deps);
  const documents = await openDocuments(server.url, deps);
  await Promise.all([kv.health(), cache.health(), documents.health()]);
  const world = deskOf([
    implementKv({ port: kv.port, cursors }),
    implementCache({ port: cache.port }),
    implementTable({ port: documents.port, cursors }),
  ]);
  for (let run = 0; run < 2; run++) {
    const call = nodeOf(world);
    assert.deepEqual(await call('storage.kv.atomicIncrement', { key: 'n' }), { value: 1, previous: 0 });
    await call('storage.cache.put', { key: 'a', value: 1, ttlSeconds: 5 });
    await call('storage.table.insert', { table: 't', row: { id: 'r', n: 1 } });
    const query = { table: 't', filter: { n: { $gt: 0 } }, orderBy: ['-n'] };
    assert.deepEqual(await call('storage.table.query', query), {
      rows: [{ id: 'r', n: 1 }],
      nextCursor: null,
    });
  }
  const times = { now: NOW + 60_000, recordedBefore: NOW + 1 };
  assert.equal(await sweepPostgres(server.database, times), 4, 'one cached value and three answers');
  assert.equal(await sweepPostgres(server.database, times), 0);
});
