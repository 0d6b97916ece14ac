import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { append, event, facts, head, putEntry, TENANT, win } from '../contract/fixtures.ts';
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

/** A folder as version 1 left it: one run with one event, and a definition. */
function folderOfVersion1(path: string): void {
  const database = new DatabaseSync(databasePath(path));
  migrate(database, { dataDir: path, migrations: MIGRATIONS.slice(0, 1), now: NOW });
  database.exec(`
    insert into runs (run_id, tenant, workflow_id, workflow_hash, created_at, request, status, next_seq)
    values ('run-1', '${TENANT}', 'wf', 'sha256-wf', 1000, '{"inputs":{}}', 'running', 1);
    insert into events (run_id, sequence, type, at, payload)
    values ('run-1', 0, 'node.completed', 1000, '{"n":0}');
    insert into definitions (hash, body) values ('sha256-wf', '{}');
  `);
  database.close();
}

test('a folder of version 1 opens with its data, is backed up, and holds entries from then on', async (t) => {
  const folder = freshFolder();
  t.after(folder.remove);
  folderOfVersion1(folder.path);
  const store = await openSqlite({ dataDir: folder.path });
  assert.deepEqual(await store.runs.load(TENANT, 'run-1'), {
    row: { ...facts('run-1'), ...head(), nextSeq: 1 },
    snapshot: null,
    tail: [event(0)],
  });
  assert.equal(await store.records.definition('sha256-wf'), '{}');
  await win(store, append('run-1', 1), putEntry('e', null));
  assert.equal(await store.entries.count('mail', TENANT), 1);
  await store.close();
  await (await openSqlite({ dataDir: folder.path })).close();
  const backups = readdirSync(join(folder.path, 'backups'));
  assert.equal(backups.length, 1);
  const backup = new DatabaseSync(join(folder.path, 'backups', backups[0] ?? ''), { readOnly: true });
  assert.equal(versionOf(backup), 1);
  assert.deepEqual(
    { ...backup.prepare('select run_id, next_seq from runs').get() },
    { run_id: 'run-1', next_seq: 1 },
  );
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
