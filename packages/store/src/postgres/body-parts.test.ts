import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import postgres from 'postgres';
import { bigText, deleteEntry, MEGABYTE, putEntry, TENANT } from '../contract/fixtures.ts';
import type { CommitResult, Store } from '../port.ts';
import { startChild } from '../testing/child.ts';
import { openProxy } from '../testing/postgres-proxy.ts';
import { freshDatabase } from '../testing/postgres-server.ts';
import { openPostgres } from './open.ts';

const database = await freshDatabase();
const skip = 'skip' in database ? database.skip : false;
const url = 'url' in database ? database.url : '';
const sql = postgres(url, { max: 1 });
const stores: Store[] = [];

const open = async (at = url): Promise<Store> => {
  const store = await openPostgres({ url: at });
  stores.push(store);
  return store;
};
after(async () => {
  await Promise.all(stores.map((store) => store.close()));
  await sql.end();
  if ('drop' in database) await database.drop();
});

const put = (
  store: Store,
  id: string,
  body: string,
  version: number | null = null,
): Promise<CommitResult[]> => store.commit([[putEntry(id, version, { body })]]);
const bodyOf = async (store: Store, id: string): Promise<string | undefined> =>
  (await store.entries.get({ kind: 'mail', tenant: TENANT, id }))?.body;

/** Stored bodies: of all, and of those that no entry has. */
async function partsStored(): Promise<{ all: number; unused: number }> {
  const [row] = await sql<[{ all: number; unused: number }]>`
    select count(distinct upload)::int as all,
      (count(distinct upload) filter (where upload not in (select upload from blobs where upload is not null)))::int
        as unused
    from blob_parts
  `;
  return { ...row };
}

const makeUploadsOld = () => sql`
  update blob_uploads set created_at = created_at - interval '61 minutes' returning upload
`;

test('a body in parts is read as it was put, wherever its characters end', { skip }, async () => {
  const store = await open();
  for (const [i, before] of ['', 'x', 'xy'].entries()) {
    const body = before + '😀ä'.repeat(MEGABYTE / 4);
    await put(store, `e${i}`, body);
    assert.equal(await bodyOf(store, `e${i}`), body);
    await store.commit([[deleteEntry(`e${i}`, 1)]]);
  }
  assert.deepEqual(await partsStored(), { all: 0, unused: 0 });
});

test('parts go with the last entry that has them, and with a commit that loses', { skip }, async () => {
  const [store, other] = [await open(), await open()];
  const body = bigText(MEGABYTE);
  await Promise.all([put(store, 'a', body), put(other, 'b', body)]);
  assert.deepEqual(await partsStored(), { all: 1, unused: 0 });
  await put(store, 'a', bigText(MEGABYTE, 'y'), 9);
  assert.deepEqual(await partsStored(), { all: 1, unused: 0 });
  await Promise.all([store.commit([[deleteEntry('a', 1)], [deleteEntry('b', 1)]]), put(other, 'c', body)]);
  assert.equal(await bodyOf(store, 'c'), body);
  await store.commit([[deleteEntry('c', 1)]]);
  assert.deepEqual(await partsStored(), { all: 0, unused: 0 });
});

test('an answer that was lost: parts of what was committed stay, those of a failed part go', {
  skip,
}, async (t) => {
  const proxy = await openProxy(url);
  t.after(proxy.close);
  const store = await open(proxy.url);
  for (const failure of ['drop-answer', 'cut-before'] as const) {
    const body = bigText(MEGABYTE, failure);
    const failed = proxy.failAt(/^commit/, failure);
    assert.deepEqual(await put(store, failure, body), [{ won: true }]);
    await failed;
    assert.equal(await bodyOf(store, failure), body);
    void proxy.failAt(/^with row as \(\s*select/, failure);
    await assert.rejects(put(store, failure, bigText(MEGABYTE), 1), { code: 'io', outcome: 'not-applied' });
    assert.deepEqual(await partsStored(), { all: 1, unused: 0 });
    await store.commit([[deleteEntry(failure, 1)]]);
  }
  assert.deepEqual(await partsStored(), { all: 0, unused: 0 });
});

test('a sweep between parts and commit fails the commit, and leaves no part', { skip }, async (t) => {
  const proxy = await openProxy(url);
  t.after(proxy.close);
  const [store, slow] = [await open(), await open(proxy.url)];
  proxy.delay(5);
  const putting = put(slow, 'late', bigText(16 * MEGABYTE));
  const refused = assert.rejects(putting, {
    code: 'io',
    outcome: 'not-applied',
    message: /more than an hour/,
  });
  while ((await makeUploadsOld()).length === 0);
  await store.retention.deleteExpired(0, 0, 1);
  await refused;
  assert.deepEqual(await partsStored(), { all: 0, unused: 0 });
  assert.equal(await bodyOf(store, 'late'), undefined);
});

const ROUNDS = 2;

test('kill -9 between parts: acknowledged bodies are whole, the others are swept', { skip }, async (t) => {
  const store = await open();
  for (let round = 0; round < ROUNDS; round++) {
    const child = startChild('putLargeForever', url);
    t.after(child.kill);
    const acknowledged: string[] = [];
    for (let i = 0; i <= round; i++) acknowledged.push(await child.next());
    while ((await partsStored()).unused === 0);
    await child.kill();
    for (const id of acknowledged)
      assert.equal(await bodyOf(store, id), bigText(2 * MEGABYTE, id.slice(0, 1)));
    const kept = await partsStored();
    await store.retention.deleteExpired(0, 0, 1);
    assert.deepEqual(await partsStored(), kept, 'a new upload may be that of a process at work');
    await makeUploadsOld();
    await store.retention.deleteExpired(0, 0, 1);
    assert.equal((await partsStored()).unused, 0);
  }
});
