import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { openPort } from '../../open-port.ts';
import { openDeps, withBackends } from '../../testing/open-deps.ts';
import { openTestPostgres, postgresSkip } from '../../testing/postgres.ts';
import { searchPort } from '../search/surface.ts';
import { implementVectors, vectorSurface, vectorsPort } from './surface.ts';

async function openersOf(t: TestContext) {
  const deps = await openDeps(t);
  return {
    GANTRY_VECTORS: (vectors?: string) => openPort(vectorsPort, withBackends(deps, { vectors })),
    GANTRY_SEARCH: (search?: string) => openPort(searchPort, withBackends(deps, { search })),
  };
}

test('nothing means the data folder; another backend is refused by name, without its password', async (t) => {
  for (const [name, open] of Object.entries(await openersOf(t))) {
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
  const openers = await openersOf(t);
  t.after(close);
  for (const open of Object.values(openers)) {
    const { kind, health } = await open(url);
    await health();
    assert.equal(kind, 'postgres');
  }
  const { port } = await openers.GANTRY_VECTORS(url);
  const advertised = (kind: string) => implementVectors({ kind, port }).advertises;
  assert.deepEqual(advertised('postgres'), { supported: true });
  assert.deepEqual(advertised('pgvector'), { supported: true, backends: ['pgvector'] });
});

test('where sqlite-vec has no build there is no surface, and health says what to do', async (t) => {
  const deps = await openDeps(t);
  const embedded = { ...deps.embedded, hasVectors: false };
  const { implement, backends } = await vectorSurface.literal.opens({ ...deps, embedded }, 'vectorStore');
  assert.equal(implement(), null);
  await assert.rejects(backends[0]!.backend.health(), /sqlite-vec.*GANTRY_VECTORS/);
});
