/** What 0006 makes of a database that an older version has written, and of the plans of statements. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { entryBytes } from '../kv/entry-bytes.ts';
import { freshFolder } from '../testing/data-dir.ts';
import { DROP_EXPIRED as DROP_EXPIRED_VALUES } from './cache.ts';
import { factsOf } from './database-files.ts';
import { FIND_EXPIRED } from './kv.ts';
import { openForWriting } from './open-file.ts';
import { DROP_EXPIRED as DROP_EXPIRED_MESSAGES } from './queue-messages.ts';

const BEFORE = 5;

/** As version 5 has left it, then opened by this one. */
function migrated(t: TestContext, write: (old: DatabaseSync) => void): DatabaseSync {
  const folder = freshFolder();
  const facts = factsOf({ file: 'surfaces', dataDir: folder.path, extensions: [] });
  mkdirSync(folder.path, { recursive: true });
  const old = new DatabaseSync(facts.path);
  const migrations = join(import.meta.dirname, facts.migrations);
  for (const file of readdirSync(migrations).sort().slice(0, BEFORE))
    old.exec(readFileSync(join(migrations, file), 'utf8'));
  old.exec(`pragma user_version = ${BEFORE}`);
  write(old);
  old.close();
  const database = openForWriting(facts);
  t.after(() => {
    database.close();
    folder.remove();
  });
  return database;
}

test('entries of an older version are counted anew, and their tenants with them', (t) => {
  const [key, value] = ['ü', '"🙂"'];
  const bytes = entryBytes({ namespace: 'é', key }, value);
  const database = migrated(t, (old) => {
    const keep = old.prepare('insert into kv values (null, ?, ?, ?, ?, 8, null)');
    const cache = old.prepare('insert into cache values (null, ?, ?, ?, ?, 8, 1, 1, 1)');
    const places = [['a', 'é'] as const, ['a', 'è'] as const, ['b', 'é'] as const];
    for (const [tenant, namespace] of places)
      for (const insert of [keep, cache]) insert.run(tenant, namespace, key, value);
  });
  const used = database.prepare('select area, tenant, bytes from usage order by area, tenant').all();
  assert.deepEqual(
    used.map((row) => ({ ...row })),
    ['cache', 'kv'].flatMap((area) => [
      { area, tenant: 'a', bytes: 2 * bytes },
      { area, tenant: 'b', bytes },
    ]),
  );
  database.exec('delete from kv; delete from cache');
  assert.equal(database.prepare('select sum(bytes) as bytes from usage').get()?.bytes, 0);
});

test('what has expired is found without reading what has not', (t) => {
  const database = migrated(t, () => {});
  const planOf = (sql: string): string =>
    database
      .prepare(`explain query plan ${sql}`)
      .all('t', 1, 1)
      .map(({ detail }) => detail)
      .join('; ');
  assert.match(
    planOf(FIND_EXPIRED),
    /COVERING INDEX kv_of_tenant_by_expiry \(tenant=\? AND expires_at<\?\)$/,
  );
  assert.match(planOf(DROP_EXPIRED_VALUES), /cache_of_tenant_by_expiry \(tenant=\? AND expires_at<\?\)/);
  const messages = planOf(`${DROP_EXPIRED_MESSAGES} and ? = 1`);
  assert.match(messages, /queue_messages_of_tenant_by_expiry \(tenant=\? AND expires_at<\?\)/);
});
