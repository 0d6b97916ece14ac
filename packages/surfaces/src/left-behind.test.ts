import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freshFolder } from './testing/data-dir.ts';
import { openTestPostgres, postgresSkip } from './testing/postgres.ts';
import { openTestSurfaces } from './testing/surfaces.ts';
import { callGateOf, nodeOf } from './testing/test-call-gate.ts';

test('data from before there was a database is named, with the way back to it', {
  skip: postgresSkip,
}, async (t) => {
  const folder = freshFolder();
  const { url, close } = await openTestPostgres();
  t.after(async () => {
    await close();
    folder.remove();
  });
  const before = await openTestSurfaces(folder.path);
  await nodeOf(callGateOf(before.surfaces))('storage.kv.put', { key: 'k', value: 1 });
  await nodeOf(callGateOf(before.surfaces))('db.vector.upsert', {
    collection: 'c',
    vectors: [{ id: 'a', embedding: [1] }],
  });
  await before.close();

  const warningsWith = async (backends: Record<string, string>) => {
    const opened = await openTestSurfaces(folder.path, { backends });
    const health = await opened.health();
    await opened.close();
    return health.flatMap((each) =>
      each.state === 'up' && each.warning?.includes('not moved')
        ? [`${each.capability}: ${each.warning}`]
        : [],
    );
  };
  const [kv, vectors, ...others] = await warningsWith({ database: url });
  assert.deepEqual(others, [], 'of what was never used nothing is said');
  assert.match(
    kv!,
    /^kvStorage: GANTRY_DATABASE_URL: .*surfaces\.db.*set GANTRY_KV=data-folder; to give it up/,
  );
  assert.match(vectors!, /^vectorStore: .*retrieval\.db.*GANTRY_VECTORS=data-folder/);
  const kept = { database: url, kv: 'data-folder', vectors: 'data-folder' };
  assert.deepEqual(await warningsWith(kept), []);
});
