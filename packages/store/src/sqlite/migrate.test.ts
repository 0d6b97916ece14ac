import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { StoreError } from '../error.ts';
import { readMigrations } from '../migration.ts';
import { freshFolder } from '../testing/data-dir.ts';
import { databasePath } from './database.ts';
import { migrate, versionOf } from './migrate.ts';
import { openSqlite } from './open.ts';

const GOLDEN = join(import.meta.dirname, 'schema.sql');
const MIGRATIONS = readMigrations(join(import.meta.dirname, 'migrations'));
const FIRST = { version: 1, sql: 'create table notes (text text); insert into notes values (1)' };
const SECOND = { version: 2, sql: 'alter table notes add column at integer' };
const BAD = { version: 3, sql: 'create table half (a integer); create table half (a integer)' };
const NOW = new Date('2026-01-02T03:04:05.678Z');

function dumpSchema(database: DatabaseSync): string {
  const rows = database.prepare('select sql from sqlite_schema where sql is not null order by name').all();
  return `${rows.map((row) => `${row.sql};`).join('\n\n')}\n`;
}

test('the migrated schema equals schema.sql (GANTRY_UPDATE_GOLDEN=1 writes it)', () => {
  const database = new DatabaseSync(':memory:');
  migrate(database, { dataDir: '.', migrations: MIGRATIONS, now: NOW });
  const dump = dumpSchema(database);
  if (process.env.GANTRY_UPDATE_GOLDEN === '1') writeFileSync(GOLDEN, dump);
  assert.equal(dump, readFileSync(GOLDEN, 'utf8'));
});

test('versions are numbered from 1 without a gap', () => {
  assert.deepEqual(
    MIGRATIONS.map((each) => each.version),
    MIGRATIONS.map((_, i) => i + 1),
  );
});

test('an older database is backed up, then migrated; a new one and a current one are not', (t) => {
  const folder = freshFolder();
  t.after(folder.remove);
  const database = new DatabaseSync(databasePath(folder.path));
  t.after(() => database.close());
  const run = (...migrations: (typeof FIRST)[]) =>
    migrate(database, { dataDir: folder.path, migrations, now: NOW });
  run(FIRST);
  run(FIRST);
  assert.equal(existsSync(join(folder.path, 'backups')), false);
  run(FIRST, SECOND);
  assert.equal(versionOf(database), 2);
  const [name] = readdirSync(join(folder.path, 'backups'));
  assert.equal(name, 'gantry-1-2026-01-02T03-04-05-678Z.db');
  const path = join(folder.path, 'backups', name);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const backup = new DatabaseSync(path);
  assert.equal(versionOf(backup), 1);
  assert.deepEqual({ ...backup.prepare('select * from notes').get() }, { text: '1' });
  backup.close();
});

test('a migration that fails leaves the version before it', () => {
  const database = new DatabaseSync(':memory:');
  assert.throws(() =>
    migrate(database, { dataDir: '.', migrations: [FIRST, { ...BAD, version: 2 }], now: NOW }),
  );
  assert.equal(versionOf(database), 1);
  assert.equal(dumpSchema(database).includes('half'), false);
});

test('data of a newer version is refused, and the folder is free again', async (t) => {
  const folder = freshFolder();
  t.after(folder.remove);
  const database = new DatabaseSync(databasePath(folder.path));
  database.exec('pragma user_version = 999');
  const isNewer = (error: unknown) =>
    error instanceof StoreError && error.code === 'data_newer' && error.message.includes('999');
  await assert.rejects(openSqlite({ dataDir: folder.path }), isNewer);
  database.exec('pragma user_version = 0');
  database.close();
  await (await openSqlite({ dataDir: folder.path })).close();
});
