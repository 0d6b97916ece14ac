import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cacheSurface } from './capabilities/cache/surface.ts';
import { kvPort, kvSurface } from './capabilities/kv/surface.ts';
import { tableSurface } from './capabilities/table/surface.ts';
import { type BackendSettings, openPort } from './open-port.ts';
import { sweepPostgres } from './postgres/sweep.ts';
import { NOW } from './testing/calls.ts';
import { openDeps, withBackends } from './testing/open-deps.ts';
import { openTestPostgres, postgresSkip } from './testing/postgres.ts';
import { callGateOf, nodeOf } from './testing/test-call-gate.ts';

test('a scheme that is not served is named, and the rest of the setting is not', async (t) => {
  const deps = await openDeps(t);
  const literal = { ...kvPort, servers: { postgres: () => assert.fail() } };
  const refused = (kv: string) => openPort(literal, withBackends(deps, { kv }));
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

test('what has no setting of its own is in the database for all, and a setting of its own wins', async (t) => {
  const deps = await openDeps(t);
  const opened = async (backends: BackendSettings) => {
    const [served] = (await kvSurface.literal.opens(withBackends(deps, backends), 'kvStorage')).backends;
    return [served!.backend.kind, served!.setting, served!.name];
  };
  const [database, other] = ['postgres://db/all', 'postgres://db/other'];
  assert.deepEqual(await opened({}), ['embedded', 'GANTRY_DATA_DIR', 'GANTRY_DATA_DIR']);
  assert.deepEqual(await opened({ database }), ['postgres', 'GANTRY_DATABASE_URL', 'GANTRY_DATABASE_URL']);
  assert.deepEqual(await opened({ database, kv: other }), ['postgres', 'GANTRY_KV', 'GANTRY_KV']);
  const kept = await opened({ database, kv: 'data-folder' });
  assert.deepEqual(kept, ['embedded', 'GANTRY_DATA_DIR', 'GANTRY_DATA_DIR']);
});

test('surfaces on PostgreSQL answer pack code as embedded ones do', { skip: postgresSkip }, async (t) => {
  const server = await openTestPostgres();
  const { url } = server;
  const deps = withBackends(await openDeps(t), { kv: url, cache: url, documents: url });
  t.after(server.close);
  const opened = await Promise.all(
    [kvSurface, cacheSurface, tableSurface].map(({ literal }) => literal.opens(deps, literal.capability)),
  );
  for (const { backend } of opened.flatMap(({ backends }) => backends)) await backend.health();
  const world = callGateOf(opened.flatMap(({ implement }) => implement() ?? []));
  for (let run = 0; run < 2; run++) {
    const call = nodeOf(world);
    assert.deepEqual(await call('storage.kv.atomicIncrement', { key: 'n' }), { value: 1, previous: 0 });
    await call('storage.cache.put', { key: 'a', value: 1, ttlSeconds: 5 });
    await call('storage.table.insert', { table: 't', row: { id: 'r', n: 1 } });
    const query = { table: 't', filter: { n: { $gt: 0 } }, orderBy: ['-n'] };
    assert.deepEqual(await call('storage.table.query', query), {
      rows: [{ id: 'r', n: 1 }],
    });
  }
  const times = { now: NOW + 60_000, recordedBefore: NOW + 1 };
  assert.equal(await sweepPostgres(server.database, times), 4, 'one cached value and three answers');
  assert.equal(await sweepPostgres(server.database, times), 0);
});
