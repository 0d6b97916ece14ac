import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { openSearch } from '../../open-backends.ts';
import { createPostgresPool } from '../../postgres/connection.ts';
import { openRetrievalDatabase } from '../../sqlite/database.ts';
import { freshFolder } from '../../testing/data-dir.ts';
import { openTestPostgres, postgresSkip } from '../../testing/postgres.ts';
import { SEARCH_LIMITS } from '../search/surface.ts';
import { openVectors, vectorSurfaces } from './open-vectors.ts';
import { VECTOR_LIMITS } from './surface.ts';

function openersOf(t: TestContext) {
  const folder = freshFolder();
  const embedded = openRetrievalDatabase({ dataDir: folder.path });
  const pool = createPostgresPool();
  t.after(async () => {
    await Promise.all([embedded.close(), pool.close()]);
    folder.remove();
  });
  return {
    GANTRY_VECTORS: (url?: string) => openVectors(url, { embedded, pool, limits: VECTOR_LIMITS }),
    GANTRY_SEARCH: (url?: string) => openSearch(url, { embedded, pool, limits: SEARCH_LIMITS }),
  };
}

test('nothing means the data folder; another backend is refused by name, without its password', async (t) => {
  for (const [name, open] of Object.entries(openersOf(t))) {
    const { kind, health } = await open();
    await health();
    assert.equal(kind, 'embedded');
    await assert.rejects(open('qdrant://me:open-sesame@there'), (error) => {
      assert.ok(error instanceof Error);
      assert.match(error.message, new RegExp(`${name} asks for "qdrant://".*postgres://`));
      assert.doesNotMatch(error.message, /open-sesame/);
      return true;
    });
    await assert.rejects((await open('postgres://127.0.0.1:1/x')).health(), { code: 'storage_unavailable' });
  }
});

test('PostgreSQL without pgvector says so', { skip: postgresSkip }, async (t) => {
  const { url, close } = await openTestPostgres();
  const openers = openersOf(t);
  t.after(close);
  for (const open of Object.values(openers)) {
    const { kind, health } = await open(url);
    await health();
    assert.equal(kind, 'postgres');
  }
  const { port } = await openers.GANTRY_VECTORS(url);
  const advertised = (kind: string) => vectorSurfaces({ kind, port, health: port.health })[0]?.advertises;
  assert.deepEqual(advertised('postgres'), { supported: true });
  assert.deepEqual(advertised('pgvector'), { supported: true, backends: ['pgvector'] });
});

test('where sqlite-vec has no build there is no surface, and health says what to do', async (t) => {
  const folder = freshFolder();
  t.after(folder.remove);
  const embedded = { ...openRetrievalDatabase({ dataDir: folder.path }), hasVectors: false };
  const deps = { embedded, pool: createPostgresPool(), limits: VECTOR_LIMITS };
  const opened = await openVectors(undefined, deps);
  assert.deepEqual(vectorSurfaces(opened), []);
  await assert.rejects(opened.health(), /sqlite-vec.*GANTRY_VECTORS/);
});
