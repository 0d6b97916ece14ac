/** Data folders of versions that kept the indexes of all tenants in `retrieval.db`. */
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { EVERYTHING } from '../documents/filter.ts';
import { parseQuery } from '../search/parse-query.ts';
import { SEARCH_LIMITS } from '../search/surface.ts';
import { NOW, read, write } from '../testing/calls.ts';
import { freshFolder } from '../testing/data-dir.ts';
import { openRetrievalDatabase } from './database.ts';
import { factsOf } from './database-files.ts';
import { databasePath, openForWriting } from './open-file.ts';
import { sequenceOf } from './ranges.ts';
import { embeddedSearch } from './search.ts';

/** More than are read, or deleted, at a time. */
const DOCUMENTS = 1_010;
const ANSWERED = write('acme', { id: 'answered before' });

function oldFolder(t: TestContext): string {
  const folder = freshFolder();
  t.after(folder.remove);
  const database = openForWriting(factsOf({ file: 'retrieval', dataDir: folder.path, extensions: [] }));
  database.exec('begin');
  makeOldIndex(database, { id: 1, tenant: 'acme', name: 'i', documents: DOCUMENTS });
  makeOldIndex(database, { id: 2, tenant: 'acme', name: 'empty', documents: 0 });
  makeOldIndex(database, { id: 3, tenant: 'other', name: 'i', documents: 2 });
  const { place, method, fingerprint } = ANSWERED.invocation;
  database
    .prepare('insert into invocations values (?, ?, ?, ?, ?, ?)')
    .run('acme', place, method, fingerprint, '{"indexed":7}', NOW);
  database.exec('commit');
  database.close();
  return folder.path;
}

interface OldIndex {
  readonly id: number;
  readonly tenant: string;
  readonly name: string;
  readonly documents: number;
}

/** The statements of that time. */
function makeOldIndex(database: DatabaseSync, { id, tenant, name, documents }: OldIndex): void {
  database
    .prepare('insert into search_indexes (id, tenant, name, next) values (?, ?, ?, ?)')
    .run(id, tenant, name, documents + 1);
  database.exec(`
    create virtual table search_words_${id} using fts5(words, tokenize='ascii');
    create virtual table search_grams_${id} using fts5(
      folded, content='', contentless_delete=1, detail=none, tokenize='trigram case_sensitive 1'
    );
  `);
  const document = database.prepare('insert into search_documents values (?, ?, ?, jsonb(?), ?, ?)');
  const words = database.prepare(`insert into search_words_${id} (rowid, words) values (?, ?)`);
  const grams = database.prepare(`insert into search_grams_${id} (rowid, folded) values (?, ?)`);
  for (let row = 1; row <= documents; row++) {
    const [seq, text] = [sequenceOf(id, row), `common word${row}`];
    document.run(seq, id, `d${row}`, JSON.stringify({ text }), text, 20);
    words.run(seq, text);
    grams.run(seq, text);
  }
}

function opened(t: TestContext, dataDir: string) {
  const database = openRetrievalDatabase({ dataDir });
  t.after(() => database.close());
  const search = embeddedSearch(database, SEARCH_LIMITS);
  const find = async (tenant: string, text: string, index = 'i') => {
    const query = { index, query: parseQuery(text), k: 100, filter: EVERYTHING };
    return (await search.query(query, read(tenant))).map(({ id }) => id);
  };
  return { database, search, find };
}

function oldTables(dataDir: string): string[] {
  const database = new DatabaseSync(databasePath(dataDir, 'retrieval.db'));
  const rows = database.prepare('select id from search_indexes order by id').all();
  const words = database.prepare(
    `select name from sqlite_schema where name like 'search_words\\__' escape '\\'`,
  );
  const names = words.all().map(({ name }) => String(name));
  database.close();
  return [...rows.map(({ id }) => String(id)), ...names];
}

/** All that was there, once, and room for more. */
async function assertWhole(t: TestContext, dataDir: string): Promise<void> {
  const { search, find, database } = opened(t, dataDir);
  assert.deepEqual(await find('acme', `word${DOCUMENTS}`), [`d${DOCUMENTS}`]);
  assert.deepEqual(
    await find('acme', 'ord77'),
    [...Array.from({ length: 10 }, (_, n) => `d77${n}`), 'd77'].sort(byLength),
  );
  assert.deepEqual(await find('acme', 'common', 'empty'), []);
  const all = Array.from({ length: DOCUMENTS }, (_, n) => `d${n + 1}`);
  assert.deepEqual(await search.delete({ index: 'i', ids: all }, write('acme')), { deleted: DOCUMENTS });
  assert.deepEqual(await find('acme', 'common'), []);
  await database.close();
}

const byLength = (one: string, other: string): number =>
  one.length - other.length || one.localeCompare(other);

test('the indexes of a tenant are found at its first query, and leave the shared file', async (t) => {
  const dataDir = oldFolder(t);
  const { find } = opened(t, dataDir);
  assert.deepEqual(await find('acme', 'word999'), ['d999']);
  assert.deepEqual(oldTables(dataDir), ['3', 'search_words_3'], 'others are left until they are asked for');
  assert.deepEqual(await find('other', 'word2'), ['d2']);
  assert.deepEqual(oldTables(dataDir), []);
  await assertWhole(t, dataDir);
});

test('a first write goes to what was there, and a call that was answered is answered alike', async (t) => {
  const dataDir = oldFolder(t);
  const { search, find } = opened(t, dataDir);
  const documents = [{ id: 'new', fields: { text: 'fresh' } }];
  assert.deepEqual(await search.index({ index: 'i', documents }, ANSWERED), { indexed: 7 });
  assert.deepEqual(await find('acme', 'fresh'), []);
  await search.index({ index: 'i', documents }, write('acme'));
  assert.deepEqual([await find('acme', 'fresh'), await find('acme', 'word999')], [['new'], ['d999']]);
});

/** What a process that died in the middle leaves: what of the old file was gone, what of the new one was there. */
const DIED: Readonly<Record<string, (dataDir: string, copy: () => Promise<void>) => Promise<void> | void>> = {
  'before the first index was copied': (dataDir) =>
    openForWriting(factsOf({ file: 'search', dataDir, extensions: [] }, 'acme')).close(),
  'when an index was copied': async (dataDir, copy) => {
    const old = databasePath(dataDir, 'retrieval.db');
    cpSync(old, `${old}.kept`);
    await copy();
    cpSync(`${old}.kept`, old);
  },
  'when a part of the old index was gone': async (dataDir, copy) => {
    await DIED['when an index was copied']!(dataDir, copy);
    const old = new DatabaseSync(databasePath(dataDir, 'retrieval.db'));
    old.exec('delete from search_documents where idx = 1 and seq % 2 = 0');
    old.close();
  },
};

for (const [moment, die] of Object.entries(DIED))
  test(`nothing is lost or doubled when the process dies ${moment}`, async (t) => {
    const dataDir = oldFolder(t);
    await die(dataDir, async () => {
      const { database, find } = opened(t, dataDir);
      await find('acme', 'common');
      await database.close();
    });
    assert.notEqual(oldTables(dataDir).length, 2);
    await assertWhole(t, dataDir);
    assert.deepEqual(oldTables(dataDir), ['3', 'search_words_3']);
  });
