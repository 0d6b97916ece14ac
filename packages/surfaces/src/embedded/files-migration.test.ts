/** What 0007 makes of a database that an older version has written. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { OBJECT_OVERHEAD_BYTES } from '../ports/blobs.ts';
import { NAME_BYTES } from '../ports/files.ts';
import { freshFolder } from '../testing/data-dir.ts';
import { factsOf } from './database-files.ts';
import { openForWriting } from './open-file.ts';

const BEFORE = 6;

test('objects and files of an older version are counted anew, and their tenants with them', (t) => {
  const folder = freshFolder();
  const facts = factsOf({ file: 'surfaces', dataDir: folder.path, extensions: [] });
  const old = new DatabaseSync(facts.path);
  const migrations = join(import.meta.dirname, facts.migrations);
  for (const file of readdirSync(migrations).sort().slice(0, BEFORE))
    old.exec(readFileSync(join(migrations, file), 'utf8'));
  old.exec(`pragma user_version = ${BEFORE}`);
  const blob = old.prepare(`insert into blobs values (null, ?, 'artifacts', ?, ?, ?, null)`);
  const file = old.prepare(`insert into files values (?, 'main', ?, ?, null)`);
  for (const key of ['a', 'b/c']) blob.run('acme', key, key, 10);
  for (const path of ['é', 'd/e/🙂']) file.run('acme', path, 100);
  file.run('other', 'f', 0);
  old.close();
  const database = openForWriting(facts);
  t.after(() => {
    database.close();
    folder.remove();
  });
  const used = () =>
    database
      .prepare('select area, tenant, bytes from usage order by area, tenant')
      .all()
      .map((row) => ({ ...row }));
  const now = [
    { area: 'blobs', tenant: 'acme', bytes: 20 + 2 * OBJECT_OVERHEAD_BYTES },
    { area: 'files', tenant: 'acme', bytes: 200 + 4 * NAME_BYTES },
    { area: 'files', tenant: 'other', bytes: NAME_BYTES },
  ];
  assert.deepEqual(used(), now);
  const counts = database.prepare('select tenant, files from file_counts order by tenant').all();
  assert.deepEqual(
    counts.map((row) => ({ ...row })),
    [
      { tenant: 'acme', files: 2 },
      { tenant: 'other', files: 1 },
    ],
  );
  database.exec('delete from blobs; delete from files');
  assert.deepEqual(
    used(),
    now.map((row) => ({ ...row, bytes: 0 })),
  );
  assert.equal(database.prepare('select sum(files) as files from file_counts').get()?.files, 0);
});
