import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { freshFolder } from '../testing/data-dir.ts';
import { assertGolden } from '../testing/golden.ts';
import { createSchema } from './create-schema.ts';
import { databasePath } from './database.ts';
import { openSqlite } from './open.ts';

test('a new database equals schema-sqlite.txt (GANTRY_UPDATE_GOLDEN=1 writes it)', () => {
  const database = new DatabaseSync(':memory:');
  createSchema(database, '.');
  const rows = database.prepare('select sql from sqlite_schema where sql is not null order by name').all();
  assertGolden('schema-sqlite.txt', `${rows.map((row) => `${row.sql};`).join('\n\n')}\n`);
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
        'There are no upgrades before the first release: start with an empty data folder or database, ' +
        'or with the Gantry version that made this one.',
    });
    assert.equal(database.prepare('pragma user_version').get()?.user_version, other);
  }
  database.exec(`pragma user_version = ${current}`);
  await (await openSqlite({ dataDir: folder.path })).close();
});
