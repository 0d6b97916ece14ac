/** Full text in a file for each tenant: what one does costs no other, and few files are open. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { EVERYTHING } from '../capabilities/documents/filter.ts';
import { parseQuery } from '../capabilities/search/parse-query.ts';
import { SEARCH_LIMITS } from '../capabilities/search/surface.ts';
import type { SearchLimits } from '../ports/search.ts';
import { NOW, read, write } from '../testing/calls.ts';
import { freshFolder } from '../testing/data-dir.ts';
import { openDatabase } from './database.ts';
import { factsOf } from './database-files.ts';
import { embeddedSearch } from './search.ts';
import { FILES_MAX, TenantFiles } from './search-files.ts';

function opened(t: TestContext, limits: SearchLimits = SEARCH_LIMITS) {
  const folder = freshFolder();
  const database = openDatabase({ dataDir: folder.path });
  t.after(async () => {
    await database.close();
    folder.remove();
  });
  const search = embeddedSearch(database, limits);
  const pathOf = (tenant: string) =>
    factsOf({ file: 'search', dataDir: folder.path, extensions: [] }, tenant).path;
  return {
    database,
    dataDir: folder.path,
    pathOf,
    index: (tenant: string, index: string, text = 'words') =>
      search.index({ index, documents: [{ id: 'a', fields: { text } }] }, write(tenant)),
    find: (tenant: string, index: string) =>
      search.query({ index, query: parseQuery('words'), k: 1, filter: EVERYTHING }, read(tenant)),
  };
}

const numbered = (many: number): string[] => Array.from({ length: many }, (_, n) => `t${n}`);

function schemaOf(path: string): { readonly version: number; readonly tables: number } {
  const database = new DatabaseSync(path, { readOnly: true });
  const version = Number(database.prepare('pragma schema_version').get()?.schema_version);
  const tables = Number(database.prepare('select count(*) as many from sqlite_schema').get()?.many);
  database.close();
  return { version, tables };
}

test('an index that a tenant makes is nothing that connections of others have to parse', async (t) => {
  const { index, find, pathOf, dataDir } = opened(t);
  await index('acme', 'i');
  const before = schemaOf(pathOf('acme'));
  for (const tenant of numbered(5)) for (const name of ['i', 'j']) await index(tenant, name);
  assert.deepEqual(schemaOf(pathOf('acme')), before);
  assert.equal((await find('acme', 'i')).length, 1);
  assert.equal(existsSync(`${dataDir}/retrieval.db`), false, 'vectors are kept apart');
});

test('a tenant that asks before it ever wrote makes no file', async (t) => {
  const { find, pathOf, index } = opened(t);
  await assert.rejects(find('acme', 'i'), { code: 'search_index_not_found' });
  assert.equal(existsSync(pathOf('acme')), false);
  await index('acme', 'i');
  assert.equal((await find('acme', 'i')).length, 1, 'and is not remembered as one without');
});

const skip = process.platform === 'linux' ? false : 'open files are looked up in /proc';

const openFiles = (folder: string): number => {
  const links = readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      return [];
    }
  });
  return new Set(links.filter((path) => path.startsWith(`${folder}/search/`) && path.endsWith('.db'))).size;
};

test('of many tenants few files are open, and each has what it wrote', { skip }, async (t) => {
  const { index, find, dataDir } = opened(t);
  const tenants = numbered(FILES_MAX + 8);
  await Promise.all(tenants.map((tenant) => index(tenant, tenant)));
  assert.equal(openFiles(dataDir), FILES_MAX);
  for (const tenant of tenants) assert.equal((await find(tenant, tenant)).length, 1);
});

test('a file that nobody uses is closed, one that is in use is not', () => {
  const closed: string[] = [];
  const files = new TenantFiles((tenant) => ({ close: () => void closed.push(tenant) }));
  for (const tenant of ['idle', 'busy']) files.get(tenant);
  files.closeIdle();
  files.get('busy');
  files.closeIdle();
  assert.deepEqual(closed, ['idle']);
  files.close();
  assert.deepEqual([closed, files.size], [['idle', 'busy'], 0]);
});

test('an index counts for the quota even where its documents are small', async (t) => {
  const { index } = opened(t, { ...SEARCH_LIMITS, quotaBytes: 100_000 });
  await index('acme', 'i');
  await index('acme', 'j');
  await assert.rejects(index('acme', 'k'), { code: 'conflict', details: { quotaBytes: 100_000 } });
  await index('other', 'k');
});

test('journals of all tenants are forgotten, some files at a time', async (t) => {
  const { database, index } = opened(t);
  const tenants = numbered(20);
  for (const tenant of tenants) for (const name of ['i', 'j']) await index(tenant, name);
  const forget = () => database.upkeep('invocations', 'forget', NOW + 1, 3);
  const counts: number[] = [];
  do counts.push(await forget());
  while (counts.reduce((sum, each) => sum + each) < 40 && counts.length < 40);
  assert.equal(
    counts.reduce((sum, each) => sum + each),
    40,
  );
  assert.ok(counts.every((each) => each <= 3));
  assert.equal(await forget(), 0);
});
