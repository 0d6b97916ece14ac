/** The database of vectors and full text: when it is made, what stays, who waits for whom. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { EVERYTHING } from '../capabilities/documents/filter.ts';
import { parseQuery } from '../capabilities/search/parse-query.ts';
import { SEARCH_LIMITS } from '../capabilities/search/surface.ts';
import { VECTOR_LIMITS } from '../capabilities/vector/surface.ts';
import type { NewVector } from '../ports/vectors.ts';
import { NOW, read, write } from '../testing/calls.ts';
import { freshFolder } from '../testing/data-dir.ts';
import { randomVectors, seededRandom } from '../testing/random-vectors.ts';
import { openDatabase } from './database.ts';
import { databasePath } from './open-file.ts';
import { embeddedSearch } from './search.ts';
import { embeddedVectors } from './vectors.ts';

function opened(t: TestContext, dataDir: string) {
  const database = openDatabase({ dataDir });
  t.after(() => database.close());
  const vectors = embeddedVectors(database, VECTOR_LIMITS);
  return { database, vectors, search: embeddedSearch(database, SEARCH_LIMITS) };
}

const upsert = {
  collection: 'c',
  metric: null,
  vectors: [{ id: 'a', embedding: new Float32Array([1, 2]), metadata: null }],
};
const nearest = { collection: 'c', embedding: new Float32Array([1, 2]), k: 1, filter: EVERYTHING };
const documents = { index: 'i', documents: [{ id: 'a', fields: { text: 'kept words' } }] };
const asked = { index: 'i', query: parseQuery('words'), k: 1, filter: EVERYTHING };

test('it is made when it is first used', async (t) => {
  const folder = freshFolder();
  t.after(folder.remove);
  const { database, vectors } = opened(t, folder.path);
  const path = databasePath(folder.path, 'retrieval.db');
  assert.deepEqual([database.isInUse('vectors'), existsSync(path)], [false, false]);
  await assert.rejects(vectors.query(nearest, read('acme')), { code: 'vector_collection_not_found' });
  assert.deepEqual([database.isInUse('vectors'), existsSync(path)], [true, true]);
});

test('what was answered is there after a restart, and so is the journal until it is forgotten', async (t) => {
  const folder = freshFolder();
  t.after(folder.remove);
  const [first, second] = [write('acme', { id: '1' }), write('acme', { id: '2' })];
  const before = opened(t, folder.path);
  await before.vectors.upsert(upsert, first);
  await before.search.index(documents, second);
  await before.database.close();
  const { database, vectors, search } = opened(t, folder.path);
  assert.equal((await vectors.query(nearest, read('acme')))[0]?.id, 'a');
  assert.equal((await search.query(asked, read('acme')))[0]?.id, 'a');
  assert.deepEqual(await vectors.upsert(upsert, first), { upserted: 1 });
  assert.equal(await database.upkeep('invocations', 'forget', NOW + 1, 10), 2);
});

test('after closing, requests are refused and start nothing', async (t) => {
  const folder = freshFolder();
  t.after(folder.remove);
  const { database, vectors, search } = opened(t, folder.path);
  await vectors.upsert(upsert, write('acme'));
  await database.close();
  await assert.rejects(vectors.query(nearest, read('acme')), { code: 'storage_unavailable' });
  await assert.rejects(search.query(asked, read('acme')), { code: 'storage_unavailable' });
});

test('a search by words does not wait for vectors', async (t) => {
  const folder = freshFolder();
  t.after(folder.remove);
  const { vectors, search } = opened(t, folder.path);
  await search.index(documents, write('acme'));
  await search.query(asked, read('acme'));
  const many = randomVectors(3_000, 256, seededRandom(1)).map((embedding, index) => ({
    id: `v${index}`,
    embedding,
    metadata: null,
  }));
  await vectors.upsert({ collection: 'large', metric: 'l2', vectors: many }, write('acme'));
  const ended: string[] = [];
  const slow = Array.from({ length: 100 }, () =>
    vectors.query({ ...nearest, collection: 'large', embedding: many[0]!.embedding }, read('acme')),
  );
  await Promise.all([
    Promise.all(slow).then(() => ended.push('vectors')),
    search.query(asked, read('acme')).then(() => ended.push('words')),
  ]);
  assert.deepEqual(ended, ['words', 'vectors']);
});

/** Half of what is near goes and comes back, over and over. */
async function churn(
  { vectors, search }: Pick<ReturnType<typeof opened>, 'vectors' | 'search'>,
  made: readonly NewVector[],
) {
  const ids = made.map(({ id }) => id);
  const documents = made.map(({ id }) => ({ id, fields: { text: 'common words' } }));
  for (let round = 0; round < 12; round++) {
    await vectors.delete({ collection: 'c', ids, filter: EVERYTHING }, write('acme'));
    await search.delete({ index: 'i', ids }, write('acme'));
    await vectors.upsert({ collection: 'c', metric: null, vectors: made }, write('acme'));
    await search.index({ index: 'i', documents }, write('acme'));
  }
}

test('queries amid writes see one moment', async (t) => {
  const folder = freshFolder();
  t.after(folder.remove);
  const { vectors, search } = opened(t, folder.path);
  const made = randomVectors(1_500, 4, seededRandom(2)).map((embedding, index) => ({
    id: `v${index}`,
    embedding,
    metadata: { index },
  }));
  const texts = made.map(({ id }) => ({ id, fields: { text: 'common words' } }));
  await vectors.upsert({ collection: 'c', metric: null, vectors: made }, write('acme'));
  await search.index({ index: 'i', documents: texts }, write('acme'));
  let isOver = false;
  const churning = churn({ vectors, search }, made.slice(0, 200)).finally(() => {
    isOver = true;
  });
  const query = { ...nearest, embedding: made[0]!.embedding, k: 200 };
  while (!isOver) {
    const found = await vectors.query(query, read('acme'));
    assert.ok(found.length === 200 && found.every(({ metadata }) => metadata !== null));
    assert.equal((await search.query({ ...asked, k: 100 }, read('acme'))).length, 100);
  }
  await churning;
});
