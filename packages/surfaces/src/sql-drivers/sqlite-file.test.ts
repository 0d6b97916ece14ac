import assert from 'node:assert/strict';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { HASTY_LIMITS, SQL_CONTRACT_LIMITS, sqlContract } from '../ports/sql-contract.ts';
import { freshFolder } from '../testing/data-dir.ts';
import { talk } from '../testing/sql-talk.ts';
import { operatorFile, SqlitePool } from './sqlite.ts';

sqlContract('SQLite, a file of the operator', async () => {
  const folder = freshFolder();
  const file = join(folder.path, 'theirs.db');
  new DatabaseSync(file).close();
  const pool = new SqlitePool();
  return {
    backend: operatorFile(pool, { file, limits: SQL_CONTRACT_LIMITS }),
    hasty: operatorFile(pool, { file, limits: HASTY_LIMITS }),
    words: { bigKey: 'integer primary key', bytes: 'blob', time: 'datetime', zonedTime: 'timestamp' },
    async close() {
      await pool.close();
      folder.remove();
    },
  };
});

test('a database of the operator must be there, and is not made', async (t) => {
  const folder = freshFolder();
  const pool = new SqlitePool();
  t.after(() => Promise.all([pool.close(), folder.remove()]));
  const file = join(folder.path, 'missing.db');
  const backend = operatorFile(pool, { file, limits: SQL_CONTRACT_LIMITS });
  const refusedWith = (message: RegExp) => ({ code: 'storage_unavailable', trouble: 'rejected', message });
  const missing = refusedWith(/^SQLite cannot find the database file .*must restore it/);
  await assert.rejects(talk(backend).query('select 1 as one'), missing);
  await assert.rejects(backend.health(), missing);
  assert.equal(existsSync(file), false);
  writeFileSync(
    file,
    'no database, but longer than the head of one would be, which has a hundred bytes and no more',
  );
  const unsound = refusedWith(
    /^SQLite cannot use its database file \(file is not a database\)\. The operator/,
  );
  await assert.rejects(backend.health(), unsound);
  rmSync(file);
  new DatabaseSync(file).close();
  await talk(backend).execute('create table t (id integer)');
  await backend.health();
});
