/** `ctx.db.sql` as packs call it. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, type TestContext, test } from 'node:test';
import { publicValidator, skipWithoutPublicData } from '../../../../protocol/src/testing/public-schemas.ts';
import type { Data } from '../../calls/data.ts';
import { freshFolder } from '../../testing/data-dir.ts';
import { openDeps, withBackends } from '../../testing/open-deps.ts';
import { callGateOf, MemoryJournal, nodeOf, type TestCallGate } from '../../testing/test-call-gate.ts';
import { openSql } from './surface.ts';

const SECRET = 'pass-word-of-the-test';

/** `shop` is for acme alone, `reports` is for all and only to be read, `away` is a server that is not there,
 * `gone` a file of a third tenant that is not there. */
async function openCallGate(t: TestContext): Promise<TestCallGate & { journal: MemoryJournal }> {
  const folder = freshFolder();
  for (const name of ['shop', 'reports']) {
    const database = new DatabaseSync(join(folder.path, `${name}.db`));
    database.exec(
      "create table items (id integer primary key, name text); insert into items values (1, 'one')",
    );
    database.close();
  }
  const away = `postgres://ada:${SECRET}@127.0.0.1:1/none`;
  const datasources = [
    { id: 'shop', tenants: ['acme'], driver: 'sqlite', file: 'shop.db' },
    { id: 'reports', tenants: '*', driver: 'sqlite', file: 'reports.db', readOnly: true, maxRows: 2 },
    { id: 'unreachable', tenants: ['acme'], driver: 'postgres', url: away, timeoutMs: 500 },
    { id: 'gone', tenants: ['third'], driver: 'sqlite', file: 'gone.db' },
  ];
  const file = join(folder.path, 'datasources.json');
  writeFileSync(file, JSON.stringify({ datasources }));
  const { implement, close } = await openSql(withBackends(await openDeps(t, folder), { datasources: file }));
  t.after(close);
  const journal = new MemoryJournal();
  return { ...callGateOf([implement()!], journal), journal };
}

/** What every discovery document has. */
const HOST_WITHOUT_SURFACES = {
  protocolVersion: '1.0',
  supportedEnvelopes: [],
  schemaVersions: {},
  limits: { clarificationRounds: 1, schemaRounds: 1, envelopesPerTurn: 1 },
};

let nodes = 0;
const caller =
  (world: TestCallGate) =>
  (method: string, input: { readonly [name: string]: Data }, tenant = 'acme') =>
    nodeOf(world, { tenant, nodeId: `n${nodes++}` })(`db.sql.${method}`, input);

describe('sql', () => {
  test('every method of the contract, with its answers', async (t) => {
    const call = caller(await openCallGate(t));
    const primary = { datasourceId: 'primary' };
    const created = { sql: 'create table t (id integer primary key, v text)', params: [] };
    assert.deepEqual(await call('execute', { ...primary, ...created }), { rowsAffected: 0, affected: 0 });
    const insert = 'insert into t values (?, ?)';
    const operations = [
      { sql: insert, params: [1, 'a'] },
      { sql: insert, params: [2, 'b'] },
    ];
    assert.deepEqual(await call('transaction', { ...primary, operations }), {
      committed: true,
      results: [{ rowsAffected: 1 }, { rowsAffected: 1 }],
    });
    const asked = { sql: 'select id, v from t where id > :id', params: { id: 1 } };
    assert.deepEqual(await call('query', { ...primary, ...asked }), {
      rows: [{ id: 2, v: 'b' }],
      rowCount: 1,
    });
  });

  test('the spellings of published packs', async (t) => {
    const call = caller(await openCallGate(t));
    await call('execute', { datasource: 'primary', sql: 'create table t (id integer primary key)' });
    const statements = [{ sql: 'insert into t values (?)', params: [1] }, { sql: 'delete from t' }];
    const done = (await call('transaction', { datasource: 'primary', statements })) as { committed: boolean };
    assert.equal(done.committed, true);
    assert.deepEqual(await call('query', { sql: 'select id from t' }), { rows: [], rowCount: 0 });
  });

  test('a failing statement undoes the transaction', async (t) => {
    const call = caller(await openCallGate(t));
    await call('execute', { sql: 'create table t (id integer primary key, v text)' });
    const statements = [1, 2, 1].map((id) => ({ sql: 'insert into t values (?, ?)', params: [id, 'x'] }));
    await assert.rejects(call('transaction', { statements }), {
      code: 'sql_transaction_aborted',
      details: { reason: 'constraint', operation: 2 },
    });
    assert.deepEqual(await call('query', { sql: 'select id from t' }), { rows: [], rowCount: 0 });
    const second = [statements[0]!, { sql: "insert into t values (1, 'x')" }];
    await assert.rejects(call('transaction', { statements: second }), {
      code: 'sql_non_parametric',
      details: { position: 22, operation: 1 },
    });
  });

  test('values pasted into the text are refused; as parameters they are only values', async (t) => {
    const call = caller(await openCallGate(t));
    await call('execute', { sql: 'create table users (id text)' });
    const pasted = "x' or '1'='1";
    await assert.rejects(call('query', { sql: `select * from users where id = '${pasted}'`, params: [] }), {
      code: 'sql_non_parametric',
    });
    const bound = { sql: 'select * from users where id = ?', params: [pasted] };
    assert.deepEqual(await call('query', bound), { rows: [], rowCount: 0 });
    await assert.rejects(call('query', { sql: 'select 1 as a', params: 'x' }), { code: 'validation_error' });
    await assert.rejects(call('execute', { sql: 'select 1 as a' }), { message: /use ctx\.db\.sql\.query/ });
    await assert.rejects(call('query', { sql: 'drop table users' }), {
      message: /use ctx\.db\.sql\.execute/,
    });
  });
});

describe('rows as tables', () => {
  const COLUMNS = Array.from({ length: 256 }, (_, index): [string, boolean] => [`c${index}`, true]);
  const tables = {
    input_0: [
      { id: 1, name: 'a', ok: true, tags: ['x'] },
      { id: 2, name: null },
    ],
    input_1: [{ id: 2, n: 9_007_199_254_740_991 }],
    input_2: [],
  };

  test('are joined as a merge node asks for it', async (t) => {
    const call = caller(await openCallGate(t));
    const sql =
      'select a.id, a.name, a.ok, a.tags, b.n from input_0 a left join input_1 b on b.id = a.id order by a.id';
    assert.deepEqual(await call('query', { sql, tables, params: [] }), {
      rows: [
        { id: 1, name: 'a', ok: true, tags: '["x"]', n: null },
        { id: 2, name: null, ok: null, tags: null, n: 9_007_199_254_740_991 },
      ],
      rowCount: 2,
    });
    assert.deepEqual(await call('query', { sql: 'select * from input_2', tables }), {
      rows: [],
      rowCount: 0,
    });
  });

  test('have the same guards, and see nothing else', async (t) => {
    const call = caller(await openCallGate(t));
    await call('execute', { sql: 'create table mine (id integer)' });
    const refused = (sql: string, code: string, given: Data = tables) =>
      assert.rejects(call('query', { sql, tables: given }), { code });
    await refused("select * from input_0 where name = 'a'", 'sql_non_parametric');
    await refused('select * from mine', 'sql_syntax_error');
    await refused('select * from pragma_database_list', 'datasource_access_denied');
    await refused('select load_extension(name) from input_0', 'datasource_access_denied');
    await refused('delete from input_0', 'validation_error');
    await refused('select 1 as a', 'validation_error', { 'a b': [] });
    await refused('select 1 as a', 'validation_error', { sqlite_master: [] });
    await refused('select 1 as a', 'validation_error', { a: [1] });
    await refused('select 1 as a', 'validation_error', { a: [{ x: 1, X: 2 }] });
    await refused('select 1 as a', 'validation_error', { a: [], A: [] });
    const [sparse, wide] = [Array.from({ length: 9_999 }, () => ({})), Object.fromEntries(COLUMNS)];
    await assert.rejects(call('query', { sql: 'select 1 as a', tables: { a: [...sparse, wide] } }), {
      code: 'validation_error',
      message: /500000 cells/,
    });
    const odd = [{ 'x"; drop table a; --': 1, constructor: 3 }];
    const kept = (await call('query', { sql: 'select * from a', tables: { a: odd } })) as { rows: Data[] };
    assert.deepEqual(kept.rows, [{ 'x"; drop table a; --': 1, constructor: 3 }]);
  });
});

describe('data sources', () => {
  const one = { sql: 'select name from items where id = ?', params: [1] };

  test('are for their tenants, and others are told so', async (t) => {
    const call = caller(await openCallGate(t));
    const found = { rows: [{ name: 'one' }], rowCount: 1 };
    assert.deepEqual(await call('query', { ...one, datasourceId: 'shop' }), found);
    assert.deepEqual(await call('query', { ...one, datasourceId: 'reports' }, 'other'), found);
    const denied = { code: 'datasource_access_denied' };
    const write = { sql: 'delete from items', params: [] };
    await assert.rejects(call('query', { ...one, datasourceId: 'shop' }, 'other'), denied);
    await assert.rejects(call('execute', { ...write, datasourceId: 'shop' }, 'other'), denied);
    await assert.rejects(call('transaction', { operations: [write], datasourceId: 'shop' }, 'other'), denied);
    await assert.rejects(call('execute', { ...write, datasourceId: 'reports' }), denied);
    for (const datasourceId of ['nope', 'SHOP', 'shop ', '__proto__', '../shop'])
      await assert.rejects(call('query', { ...one, datasourceId }), { code: 'datasource_not_found' });
    await assert.rejects(call('query', { ...one, datasourceId: '' }), { code: 'validation_error' });
    const misspelt = (tenant: string, message: RegExp) =>
      assert.rejects(call('query', { ...one, datasourceId: 'Shop' }, tenant), { message });
    await misspelt(
      'acme',
      /Did you mean shop\? This tenant has primary, shop, reports, unreachable; only the operator/,
    );
    await misspelt(
      'other',
      /of this name\. This tenant has primary, reports; only the operator can add one\.$/,
    );
    assert.deepEqual(await call('query', { ...one, datasourceId: 'shop' }), found);
  });

  test('the primary one of a tenant is its own', async (t) => {
    const call = caller(await openCallGate(t));
    for (const tenant of ['acme', 'other']) {
      await call('execute', { sql: 'create table t (v text)' }, tenant);
      await call('execute', { sql: 'insert into t values (?)', params: [tenant] }, tenant);
    }
    for (const tenant of ['acme', 'other'])
      assert.deepEqual(await call('query', { sql: 'select v from t' }, tenant), {
        rows: [{ v: tenant }],
        rowCount: 1,
      });
  });

  test('a server that is away is told apart from a wrong statement, without its address', async (t) => {
    const world = await openCallGate(t);
    await assert.rejects(caller(world)('query', { ...one, datasourceId: 'unreachable' }), (error: Error) => {
      assert.equal((error as Error & { code: string }).code, 'storage_unavailable');
      assert.doesNotMatch(error.message, new RegExp(SECRET));
      return true;
    });
    assert.doesNotMatch(JSON.stringify(world.reports), new RegExp(SECRET));
  });

  test('a file that is gone is told to the operator with its path, and to nobody else', async (t) => {
    const world = await openCallGate(t);
    await assert.rejects(
      caller(world)('query', { ...one, datasourceId: 'gone' }, 'third'),
      (error: Error) => {
        assert.match(error.message, /^SQLite cannot find the database file/);
        return !error.message.includes('gone.db');
      },
    );
    assert.match(
      world.reports.at(-1)?.reason ?? '',
      /^SQLite at data source "gone" \(\/.*\/gone\.db\) cannot find the database file/,
    );
  });

  test('discovery names what is for all, and nothing secret', { skip: skipWithoutPublicData }, async (t) => {
    const { callGate } = await openCallGate(t);
    assert.deepEqual(callGate.discovery(), {
      sql: {
        supported: true,
        transactions: true,
        drivers: ['sqlite', 'postgres', 'mysql'],
        datasources: [
          { id: 'primary', driver: 'sqlite' },
          { id: 'reports', driver: 'sqlite' },
        ],
      },
    });
    const document = { ...HOST_WITHOUT_SURFACES, ...callGate.discovery() };
    assert.deepEqual(publicValidator('capabilities.schema.json')?.(document), []);
  });
});

describe('a transaction that fails', () => {
  test('says at which operation, however it does, and keeps nothing', async (t) => {
    const call = caller(await openCallGate(t));
    await call('execute', { sql: 'create table t (id integer primary key)' });
    const insert = { sql: 'insert into t (id) values (?)', params: [1] };
    const failing = (operations: Data[], code: string, message: RegExp) =>
      assert.rejects(call('transaction', { operations }), { code, message });
    await failing([insert, insert], 'sql_transaction_aborted', /^operations\[1\]: SQLite: UNIQUE/);
    await failing(
      [insert, { sql: 'insert into t (id) values (?)' }],
      'sql_non_parametric',
      /^operations\[1\]: The statement has 1 placeholder and `params` has 0 values\./,
    );
    await failing(
      [{ sql: 'insert into none (id) values (?)', params: [1] }],
      'sql_syntax_error',
      /^operations\[0\]:/,
    );
    assert.deepEqual(await call('query', { sql: 'select id from t' }), { rows: [], rowCount: 0 });
  });

  test('needs no params where a statement has none', async (t) => {
    const call = caller(await openCallGate(t));
    const operations = [{ sql: 'create table t (id integer)' }, { sql: 'delete from t' }];
    assert.equal(((await call('transaction', { operations })) as { committed: boolean }).committed, true);
  });
});

test('a list is no list of values for `in (?)`', async (t) => {
  const call = caller(await openCallGate(t));
  const sql = 'select name from items where id in (?)';
  await assert.rejects(call('query', { sql, params: [[1, 2]], datasourceId: 'shop' }), {
    code: 'validation_error',
    message: /Write a placeholder for each value/,
  });
});

describe('a node that runs again', () => {
  /** On the primary data source, and on one in which nothing of ours is put. */
  for (const datasourceId of ['primary', 'shop'])
    test(`does not write twice on ${datasourceId}`, async (t) => {
      const world = await openCallGate(t);
      const call = caller(world);
      if (datasourceId === 'primary')
        await call('execute', { sql: 'create table items (id integer primary key, name text)' });
      const insert = { datasourceId, sql: 'insert into items (name) values (?)', params: ['again'] };
      for (let run = 0; run < 3; run++)
        assert.deepEqual(await nodeOf(world, { nodeId: 'adds' })('db.sql.execute', insert), {
          rowsAffected: 1,
          affected: 1,
        });
      const count = {
        datasourceId,
        sql: 'select count(*) as n from items where name = ?',
        params: ['again'],
      };
      assert.deepEqual(await call('query', count), { rows: [{ n: 1 }], rowCount: 1 });
      const other = { ...insert, params: ['other'] };
      await nodeOf(world, { nodeId: 'adds' })('db.sql.execute', other);
      assert.deepEqual(await call('query', { ...count, params: ['other'] }), {
        rows: [{ n: 0 }],
        rowCount: 1,
      });
      assert.equal(world.journal.records.size, datasourceId === 'primary' ? 0 : 1);
    });

  test('and is pure may read, and not write', async (t) => {
    const call = nodeOf(await openCallGate(t), { effect: 'pure' });
    assert.deepEqual(await call('db.sql.query', { sql: 'select 1 as a' }), { rows: [{ a: 1 }], rowCount: 1 });
    await assert.rejects(call('db.sql.execute', { sql: 'create table t (a integer)' }), {
      code: 'sandbox_capability_denied',
    });
  });
});
