import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { freshFolder } from '../testing/data-dir.ts';
import { assertGolden } from '../testing/golden.ts';
import { createSchema, SCHEMA } from './create-schema.ts';
import { databasePath } from './database.ts';
import { openSqlite } from './open.ts';

const dump = (database: DatabaseSync): string => {
  const rows = database.prepare('select sql from sqlite_schema where sql is not null order by name').all();
  return `${rows.map((row) => `${row.sql};`).join('\n\n')}\n`;
};

/** Without layout: an added column is appended to the text of its table. */
const dense = (text: string): string => text.replaceAll(/\s+/g, ' ').replaceAll(/ ?([(),]) ?/g, '$1');

test('a new database equals schema-sqlite.txt (GANTRY_UPDATE_GOLDEN=1 writes it)', () => {
  const database = new DatabaseSync(':memory:');
  createSchema(database, '.');
  assertGolden('schema-sqlite.txt', dump(database));
});

test('data of the first version is kept and gets what was added since, so it equals a new database', async (t) => {
  const folder = freshFolder();
  t.after(folder.remove);
  const database = new DatabaseSync(databasePath(folder.path));
  t.after(() => database.close());
  database.exec(readFileSync(`${import.meta.dirname}/../testing/schema-1.sqlite.sql`, 'utf8'));
  database.exec(`pragma user_version = ${SCHEMA.first}; pragma journal_mode = wal`);
  const entry = { kind: 'k', tenant: 't', id: 'i', version: 7, createdAt: 1, body: '{}' };
  database.exec(
    `insert into entries (kind, tenant, id, version, created_at, body) values ('k', 't', 'i', 7, 1, '{}')`,
  );
  for (let start = 0; start < 2; start++) {
    const store = await openSqlite({ dataDir: folder.path });
    assert.partialDeepStrictEqual(await store.entries.get(entry), entry);
    await store.close();
  }
  const fresh = new DatabaseSync(':memory:');
  createSchema(fresh, '.');
  assert.equal(dense(dump(database)), dense(dump(fresh)));
});

test('data of another schema version is refused and left alone, and the folder is free again', async (t) => {
  const folder = freshFolder();
  t.after(folder.remove);
  await (await openSqlite({ dataDir: folder.path })).close();
  const database = new DatabaseSync(databasePath(folder.path));
  t.after(() => database.close());
  const current = Number(database.prepare('pragma user_version').get()?.user_version);
  for (const other of [1, current + 1]) {
    database.exec(`pragma user_version = ${other}`);
    await assert.rejects(openSqlite({ dataDir: folder.path }), {
      code: 'schema_mismatch',
      message:
        `The data in ${folder.path} has schema version ${other}, but this Gantry uses version ${current}. ` +
        'This version can only add to older data: start with an empty data folder or database, ' +
        'or with the Gantry version that made this one.',
    });
    assert.equal(database.prepare('pragma user_version').get()?.user_version, other);
  }
  database.exec(`pragma user_version = ${current}`);
  await (await openSqlite({ dataDir: folder.path })).close();
});
