/** What one tenant asks for never keeps others waiting, and has an end. Orders are compared, not times. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { JsonObject } from '@gantry/protocol';
import { EVERYTHING } from '../capabilities/documents/filter.ts';
import { parseFilter } from '../capabilities/documents/parse-filter.ts';
import { NOSQL_LIMITS } from '../capabilities/nosql/surface.ts';
import { parseQuery } from '../capabilities/search/parse-query.ts';
import { SEARCH_LIMITS } from '../capabilities/search/surface.ts';
import { VECTOR_LIMITS } from '../capabilities/vector/surface.ts';
import type { SearchPort } from '../ports/search.ts';
import { read, write } from '../testing/calls.ts';
import { freshFolder } from '../testing/data-dir.ts';
import { treeOf } from '../testing/process-tree.ts';
import { randomVectors, seededRandom } from '../testing/random-vectors.ts';
import { type DatabaseOptions, openDatabase, openEmbeddedDatabase } from './database.ts';
import { embeddedDocuments } from './documents.ts';
import { embeddedKv } from './kv.ts';
import { embeddedSearch } from './search.ts';
import { embeddedVectors } from './vectors.ts';

function dataDir(t: TestContext): string {
  const folder = freshFolder();
  t.after(folder.remove);
  return folder.path;
}

async function surfaces(t: TestContext, options: Omit<DatabaseOptions, 'dataDir'> = {}) {
  const database = await openEmbeddedDatabase({ dataDir: dataDir(t), ...options });
  t.after(() => database.close());
  const kv = embeddedKv(database, { quotaBytes: 1_000_000 });
  return { database, kv, documents: embeddedDocuments(database, NOSQL_LIMITS) };
}

type Documents = Awaited<ReturnType<typeof surfaces>>['documents'];

function fulltext(t: TestContext, options: Omit<DatabaseOptions, 'dataDir'> = {}) {
  const database = openDatabase({ dataDir: dataDir(t), ...options });
  t.after(() => database.close());
  return embeddedSearch(database, SEARCH_LIMITS);
}

const place = { space: 'nosql:primary', collection: 'c' };
const insert = (documents: Documents, tenant: string, document: JsonObject & { id: string }) =>
  documents.insert({ ...place, documents: [{ id: document.id, document }], typed: false }, write(tenant));

const find = (documents: Documents, tenant: string, filter = EVERYTHING) =>
  documents.find({ ...place, filter, sort: [], after: null, limit: 1 }, read(tenant));

/** As many conditions as a filter may hold, over documents with as many members as fit. */
const WORST = parseFilter(
  {
    $and: [...Array.from({ length: 98 }, (_, index) => ({ [`absent${index}`]: null })), { id: { $gt: 'z' } }],
  },
  'validation_error',
);
const LARGE = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`member${index}`, 1]));

async function insertLarge(documents: Documents, tenant: string, many = 1): Promise<void> {
  for (let index = 0; index < many; index++)
    await insert(documents, tenant, { ...LARGE, id: `large${index}` });
}

/** So many that the writer looks through none of them by itself. */
const insertMany = (documents: Documents, tenant: string) => {
  const small = Array.from({ length: 1_001 }, (_, index) => ({ id: `small${index}` }));
  const given = small.map((document) => ({ id: document.id, document }));
  return documents.insert({ ...place, documents: given, typed: false }, write(tenant));
};

const processes = (): number => treeOf(process.pid).length - 1;

test('a process starts with the first scan, not with what is found by its key, and ends with the database', async (t) => {
  const { database, kv, documents } = await surfaces(t);
  await insert(documents, 'acme', { id: 'a' });
  await kv.get({ namespace: '', key: 'k' }, read('acme'));
  assert.equal((await documents.get({ ...place, id: 'a' }, read('acme')))?.id, 'a');
  assert.equal(processes(), 0);
  assert.equal((await find(documents, 'acme')).documents.length, 1);
  assert.equal(processes(), 1);
  await database.close();
  assert.equal(processes(), 0);
  await assert.rejects(find(documents, 'acme'), { code: 'storage_unavailable', message: /stopping/ });
});

test('while the worst filters of a tenant run, others are answered', async (t) => {
  const { kv, documents } = await surfaces(t);
  await insertLarge(documents, 'acme');
  await insert(documents, 'other', { id: 'small' });
  await kv.put({ namespace: '', key: 'k', value: 1, expiresAt: null }, write('other'));
  await find(documents, 'other');
  const ended: string[] = [];
  const note = (name: string) => () => void ended.push(name);
  const worst = Array.from({ length: 7 }, () => find(documents, 'acme', WORST).then(note('filter')));
  await Promise.all([
    ...worst,
    kv.get({ namespace: '', key: 'k' }, read('other')).then(note('key')),
    documents.get({ ...place, id: 'small' }, read('other')).then(note('id')),
    find(documents, 'other').then(note('find')),
  ]);
  const filters = (name: string): number =>
    ended.slice(0, ended.indexOf(name)).filter((each) => each === 'filter').length;
  assert.deepEqual([filters('key'), filters('id')], [0, 0], 'what is found by its key waits for no filter');
  assert.ok(filters('find') < worst.length - 1, `${filters('find')} filters came first`);
});

test('a filter that takes too long is ended, and says what to ask instead', async (t) => {
  const { documents } = await surfaces(t, { scanMsMax: 30 });
  await insertLarge(documents, 'acme', 3);
  await assert.rejects(documents.count({ ...place, filter: WORST }, read('acme')), {
    code: 'validation_error',
    message: /exceeded 30 ms and was cancelled\. Ask for fewer/,
  });
});

test('a change that looks through much is ended too, and keeps no other write waiting', async (t) => {
  const { kv, documents } = await surfaces(t, { scanMsMax: 30 });
  await insertLarge(documents, 'acme', 8);
  await insertMany(documents, 'acme');
  const put = () => kv.put({ namespace: '', key: 'k', value: 1, expiresAt: null }, write('other'));
  await put();
  const ended: string[] = [];
  const note = (name: string) => (value: unknown) => {
    ended.push(name);
    return value;
  };
  const change = { ...place, filter: WORST, matchesMax: 10 };
  const late = { code: 'validation_error', message: /exceeded 30 ms/ };
  const patched = documents.patch({ ...change, patch: { n: 1 }, whenNone: { do: 'answer' } }, write('acme'));
  const removed = documents.delete(change, write('acme'));
  await Promise.all([
    assert.rejects(patched, late).then(note('change')),
    assert.rejects(removed, late).then(note('change')),
    put().then(note('put')),
  ]);
  assert.deepEqual(ended, ['put', 'change', 'change']);
});

test('a tenant has two slow scans at once where nobody else waits, and never three', async (t) => {
  const { documents } = await surfaces(t);
  await insertLarge(documents, 'acme', 12);
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, processes());
  }, 20);
  t.after(() => clearInterval(watch));
  await Promise.all(Array.from({ length: 3 }, () => find(documents, 'acme', WORST)));
  assert.equal(most, 2);
});

const asked = (text: string) => ({ index: 'i', query: parseQuery(text), k: 1, filter: EVERYTHING });
const phraseOf = (words: number): string => `"${Array(words).fill('a').join(' ')}"`;

/** Every place of every document may begin the phrase. */
async function indexRepeats(search: SearchPort, tenant: string, many: number): Promise<void> {
  const fields = { text: 'a '.repeat(32_000) };
  const documents = Array.from({ length: many }, (_, index) => ({ id: `d${index}`, fields }));
  await search.index({ index: 'i', documents }, write(tenant));
  await search.index({ index: 'i', documents: [{ id: 'b', fields: { text: 'b' } }] }, write(tenant));
}

test('while the worst phrases of a tenant are looked for, others are answered', async (t) => {
  const search = fulltext(t);
  await indexRepeats(search, 'acme', 8);
  await indexRepeats(search, 'other', 0);
  const ended: string[] = [];
  const query = (tenant: string, text: string) =>
    search.query(asked(text), read(tenant)).then(() => void ended.push(tenant));
  await Promise.all([...Array.from({ length: 8 }, () => query('acme', phraseOf(15))), query('other', 'b')]);
  assert.ok(ended.indexOf('other') < 7, `it came after ${ended.indexOf('other')} phrases`);
});

test('a phrase that takes too long is ended, and the tenant is answered again after it', async (t) => {
  const search = fulltext(t, { scanMsMax: 300 });
  await indexRepeats(search, 'acme', 40);
  await assert.rejects(search.query(asked(phraseOf(100)), read('acme')), {
    code: 'search_query_syntax_error',
    message: /fewer or rarer words/,
  });
  assert.equal((await search.query(asked('b'), read('acme')))[0]?.id, 'b');
});

test('while many look-ups among all vectors of a tenant run, others are answered', async (t) => {
  const database = openDatabase({ dataDir: dataDir(t) });
  t.after(() => database.close());
  const port = embeddedVectors(database, VECTOR_LIMITS);
  const vectors = randomVectors(3_000, 256, seededRandom(1)).map((embedding, index) => ({
    id: `v${index}`,
    embedding,
    metadata: null,
  }));
  const at = { collection: 'c', metric: 'l2' } as const;
  await port.upsert({ ...at, vectors }, write('acme'));
  await port.upsert({ ...at, vectors: vectors.slice(0, 1) }, write('other'));
  const ended: string[] = [];
  const nearest = { collection: 'c', embedding: vectors[0]!.embedding, k: 500, filter: EVERYTHING };
  const query = (tenant: string) => port.query(nearest, read(tenant)).then(() => void ended.push(tenant));
  await Promise.all([...Array.from({ length: 30 }, () => query('acme')), query('other')]);
  assert.ok(ended.indexOf('other') <= 3, `it came after ${ended.indexOf('other')}`);
});

test('a tenant that asks without end fills its own places alone', async (t) => {
  const search = fulltext(t);
  for (const tenant of ['other', 'acme'])
    await search.index({ index: 'i', documents: [{ id: 'b', fields: { text: 'b' } }] }, write(tenant));
  const ended: string[] = [];
  const query = (tenant: string) =>
    search.query(asked('b'), read(tenant)).then(() => void ended.push(tenant));
  await query('acme');
  const greedy = Array.from({ length: 1_100 }, () => query('acme'));
  const [refused] = await Promise.all([
    Promise.allSettled(greedy).then((all) =>
      all.flatMap((each) => (each.status === 'rejected' ? [each.reason] : [])),
    ),
    query('other'),
  ]);
  // One is at work, and as many as may wait do
  assert.equal(refused.length, 99);
  assert.deepEqual(
    [refused[0].code, /of this tenant/.test(refused[0].message)],
    ['storage_unavailable', true],
  );
  assert.ok(ended.indexOf('other') <= 3, 'its turn came next');
});
