import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { bigText, deleteEntry, MEGABYTE, putEntry, TENANT } from '../contract/fixtures.ts';
import type { CommitResult, Store } from '../port.ts';
import { startChild } from '../testing/child.ts';
import { freshFolder } from '../testing/data-dir.ts';
import { prepareBlobWrites } from './blobs.ts';
import { prepareBodyParts } from './body-parts.ts';
import { createSchema } from './create-schema.ts';
import { databasePath } from './database.ts';
import { openSqlite } from './open.ts';

const put = (
  store: Store,
  id: string,
  body: string,
  version: number | null = null,
): Promise<CommitResult[]> => store.commit([[putEntry(id, version, { body })]]);
const bodyOf = async (store: Store, id: string): Promise<string | undefined> =>
  (await store.entries.get({ kind: 'mail', tenant: TENANT, id }))?.body;

/** The hashes of stored parts: of all, and of those that no entry has. */
function partsIn(dataDir: string): { all: number; unused: number } {
  const database = new DatabaseSync(databasePath(dataDir), { readOnly: true });
  try {
    const row = database
      .prepare(`
        select count(distinct hash) as "all",
          count(distinct hash) filter (where hash not in (select hash from blobs where body is null)) as unused
        from blob_parts
      `)
      .get();
    return { all: Number(row?.all), unused: Number(row?.unused) };
  } finally {
    database.close();
  }
}

async function openFresh(t: TestContext): Promise<{ store: Store; dataDir: string }> {
  const folder = freshFolder();
  const store = await openSqlite({ dataDir: folder.path });
  t.after(async () => {
    await store.close();
    folder.remove();
  });
  return { store, dataDir: folder.path };
}

test('a body in parts is read as it was put, wherever its characters end', async (t) => {
  const { store } = await openFresh(t);
  for (const [i, before] of ['', 'x', 'xy'].entries()) {
    const body = before + '😀ä'.repeat(MEGABYTE / 4);
    await put(store, `e${i}`, body);
    assert.equal(await bodyOf(store, `e${i}`), body);
  }
});

test('parts go with the last entry that has them, and with a commit that loses', async (t) => {
  const { store, dataDir } = await openFresh(t);
  const body = bigText(MEGABYTE);
  await Promise.all([put(store, 'a', body), put(store, 'b', body)]);
  assert.deepEqual(partsIn(dataDir), { all: 1, unused: 0 });
  await put(store, 'a', bigText(MEGABYTE, 'y'), 9);
  assert.deepEqual(partsIn(dataDir), { all: 1, unused: 0 });
  await Promise.all([store.commit([[deleteEntry('a', 1)], [deleteEntry('b', 1)]]), put(store, 'c', body)]);
  assert.equal(await bodyOf(store, 'c'), body);
  await store.commit([[deleteEntry('c', 1)]]);
  assert.deepEqual(partsIn(dataDir), { all: 0, unused: 0 });
});

test('parts that are held stay through a sweep and the end of the last entry that has them', (t) => {
  const database = new DatabaseSync(':memory:');
  t.after(() => database.close());
  createSchema(database, 'memory');
  const parts = prepareBodyParts(database, (work) => work());
  const blobs = prepareBlobWrites(database, parts.drop);
  const count = (): number =>
    Number(database.prepare('select count(*) as count from blob_parts').get()?.count);
  const { hold, put, release } = parts.operations;

  assert.deepEqual(hold(['a']), ['a']);
  put('a', 0, 'text');
  parts.sweep();
  assert.equal(count(), 1, 'a sweep');
  blobs.putStored('first', 'a');
  release(['a']);
  assert.deepEqual(hold(['a']), [], 'it is already there');
  blobs.drop('first');
  assert.equal(count(), 1, 'the end of the last entry');
  release(['a']);
  assert.equal(count(), 0, 'a commit that lost');
});

const ROUNDS = 2;

test('kill -9 between parts: acknowledged bodies are whole, the others are swept', async (t) => {
  const folder = freshFolder();
  t.after(folder.remove);
  for (let round = 0; round < ROUNDS; round++) {
    const child = startChild('putLargeForever', folder.path);
    t.after(child.kill);
    const acknowledged: string[] = [];
    for (let i = 0; i <= round; i++) acknowledged.push(await child.next());
    while (partsIn(folder.path).unused === 0) await setImmediate();
    await child.kill();
    const store = await openSqlite({ dataDir: folder.path });
    t.after(() => store.close());
    for (const id of acknowledged)
      assert.equal(await bodyOf(store, id), bigText(2 * MEGABYTE, id.slice(0, 1)));
    await store.retention.deleteExpired(0, 0, 1);
    assert.equal(partsIn(folder.path).unused, 0);
    await store.close();
  }
});
