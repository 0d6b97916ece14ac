import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { HASTY_LIMITS, SQL_CONTRACT_LIMITS, sqlContract, sqlOnceContract } from '../ports/sql-contract.ts';
import { freshFolder } from '../testing/data-dir.ts';
import { talk } from '../testing/sql-talk.ts';
import { SqlitePool, tenantFiles } from './sqlite.ts';

const words = { bigKey: 'integer primary key', bytes: 'blob', time: 'datetime', zonedTime: 'timestamp' };

function openTenantFiles(bytesMax = 10_000_000) {
  const folder = freshFolder();
  const pool = new SqlitePool();
  const settings = { dataDir: folder.path, bytesMax, invocationRetentionMs: 60_000 };
  const backend = tenantFiles(pool, { ...settings, limits: SQL_CONTRACT_LIMITS });
  // What ends by itself may take long on a busy machine
  const patient = tenantFiles(pool, { ...settings, limits: { ...SQL_CONTRACT_LIMITS, timeoutMs: 60_000 } });
  const hasty = tenantFiles(pool, { ...settings, limits: HASTY_LIMITS });
  const close = async (): Promise<void> => {
    await pool.close();
    folder.remove();
  };
  return { folder, backend, patient, hasty, words, close };
}

const opened = (t: TestContext, bytesMax?: number) => {
  const world = openTenantFiles(bytesMax);
  t.after(world.close);
  return world;
};

sqlContract('SQLite, a file for each tenant', async () => openTenantFiles());

sqlOnceContract('SQLite, a file for each tenant', async () => openTenantFiles());

test('tenants have files of their own, for nobody else to read', async (t) => {
  const { folder, backend } = opened(t);
  const [ours, theirs] = [talk(backend, '../../etc'), talk(backend, '../../ETC')];
  await ours.execute('create table secrets (v text)');
  await ours.execute('insert into secrets values (?)', ['ours']);
  await assert.rejects(theirs.query('select v from secrets'), { code: 'sql_syntax_error' });
  assert.deepEqual(await theirs.query('select name from sqlite_master where name = ?', ['secrets']), []);
  await theirs.execute('create table secrets (v text)');
  assert.deepEqual(await theirs.query('select v from secrets'), []);
  const files = readdirSync(join(folder.path, 'sql')).filter((name) => name.endsWith('.db'));
  assert.equal(files.length, 2);
  for (const name of files)
    assert.equal(statSync(join(folder.path, 'sql', name)).mode & 0o777, 0o600, 'for its owner only');
});

/** Refused by SQLite itself, though each would get past a check of words. */
const REACHES_OUT: [string, 'query' | 'execute'][] = [
  ['select * from pragma_database_list', 'query'],
  ['select * from "pragma_table_info"(?)', 'query'],
  ['select * from gantry_invocations', 'query'],
  ['select * from "GANTRY_Invocations"', 'query'],
  ['with g as (select * from main.gantry_invocations) select count(*) from g', 'query'],
  ['select (select count(*) from gantry_invocations) as n', 'query'],
  ['select * from dbstat', 'query'],
  ['delete from gantry_invocations', 'execute'],
  ['insert into gantry_invocations values (?)', 'execute'],
  ['drop table gantry_invocations', 'execute'],
  ['alter table gantry_invocations rename to mine', 'execute'],
  ['create table gantry_x (a)', 'execute'],
  ['alter table t rename to gantry_x', 'execute'],
  ['alter table t rename/**/to "Gantry_x"', 'execute'],
  ['create index gantry_i on t (id)', 'execute'],
  ['create view v as select * from gantry_invocations', 'execute'],
  ['update sqlite_master set sql = ?', 'execute'],
  ['delete from sqlite_master', 'execute'],
];

test('nothing reaches beyond the tables of the tenant', async (t) => {
  const on = talk(opened(t).backend);
  await on.execute('create table t (id integer)');
  for (const [statement, use] of REACHES_OUT) {
    const params = statement.includes('?') ? ['x'] : [];
    const attempt = async () => {
      await on[use](statement, params);
      // A view is judged when it is read
      if (statement.startsWith('create view')) await on.query('select * from v');
    };
    const refused = {
      code: /^(datasource_access_denied|sql_syntax_error)$/,
      message: /access|authorized|prohibited|modified|no such table/,
    };
    await assert.rejects(attempt(), refused, statement);
  }
  assert.equal(await on.execute('insert into t values (?)', [1]), 1);
});

test('a full file refuses, and takes again when there is room', async (t) => {
  const on = talk(opened(t, 150_000).backend);
  await on.execute('create table t (v text)');
  const add = () => on.execute('insert into t values (?)', ['x'.repeat(60_000)]);
  await add();
  await add();
  const full = { code: 'sql_transaction_aborted', details: { reason: 'space', operation: 0 } };
  await assert.rejects(add(), full);
  await on.execute('delete from t');
  assert.equal(await add(), 1);
});

test('more statements than processes all get their answer, those of other tenants too', async (t) => {
  const { backend } = opened(t);
  const tenants = Array.from({ length: 8 }, () => talk(backend));
  const answers = await Promise.all(
    tenants.flatMap((on) => [on.query('select 1 as one'), on.query('select 2 as one')]),
  );
  assert.equal(answers.length, 16);
});

test('a job that comes while all processes retire is served by a new one', {
  timeout: 120_000,
}, async (t) => {
  const pool = new SqlitePool();
  const job = {
    kind: 'tables',
    tables: [],
    limits: SQL_CONTRACT_LIMITS,
    statement: { kind: 'rows', pieces: ['select 1 as one'], gaps: [], values: [] },
  } as const;
  t.mock.timers.enable({ apis: ['setTimeout'] });
  await Promise.all(['a', 'b', 'c', 'd'].map((key) => pool.run(key, job)));
  t.mock.timers.tick(60_000);
  assert.deepEqual(await pool.run('a', job), { kind: 'done', value: [{ one: 1 }] });
  t.mock.timers.reset();
  await pool.close();
});

test('a statement that takes too much memory is refused, and the next is served', async (t) => {
  const on = talk(opened(t).patient);
  // Texts of 15 MB beside each other, though only their lengths are asked for
  const texts = Array.from({ length: 60 }, (_, index) => `length(group_concat(printf(?1, x + ${index})))`);
  const numbers = 'with recursive c(x) as (select 1 union all select x + 1 from c where x < ?2)';
  await assert.rejects(on.query(`${numbers} select ${texts.join(' + ')} as n from c`, ['%1000000d', 15]), {
    code: 'sql_transaction_aborted',
    details: { reason: 'bytes' },
  });
  assert.deepEqual(await on.query('select 1 as one'), [{ one: 1 }]);
});
