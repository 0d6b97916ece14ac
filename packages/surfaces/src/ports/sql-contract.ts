/** What every SQL backend must do, through the port: I1 to I4 and I6. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { SqlParams } from '../capabilities/sql/template.ts';
import { type WriteOptions, write } from '../testing/calls.ts';
import { freshTable, numbers, type Sql, talk } from '../testing/sql-talk.ts';
import type { SqlBackend, SqlLimits } from './sql.ts';
import { sqlParameters } from './sql-parameters-contract.ts';
import { type SqlWords, sqlValues } from './sql-values-contract.ts';

export interface OpenedSql {
  /** With `SQL_CONTRACT_LIMITS`. */
  readonly backend: SqlBackend;
  /** The same database, with `HASTY_LIMITS`. */
  readonly hasty: SqlBackend;
  readonly words: SqlWords;
  close(): Promise<void>;
}

export const SQL_CONTRACT_LIMITS: SqlLimits = { rowsMax: 100, bytesMax: 50_000, timeoutMs: 10_000 };
/** For statements that are to be late; any other would be on a busy machine. */
export const HASTY_LIMITS: SqlLimits = { ...SQL_CONTRACT_LIMITS, timeoutMs: 500 };

/** Every test has tables of its own. */
export function sqlContract(name: string, open: () => Promise<OpenedSql>): void {
  describe(`sql backend: ${name}`, () => {
    let opened: OpenedSql | null = null;
    const world = (): OpenedSql => opened ?? assert.fail('the backend is not open');
    const sql = (): Sql => talk(world().backend);
    before(async () => {
      opened = await open();
    });
    after(() => opened?.close());
    statements(sql);
    sqlValues(sql, () => world().words);
    sqlParameters(sql);
    readOnly(sql);
    atomicity(sql);
    bounds(sql, (tenant) => talk(world().hasty, tenant));
    failures(sql);
  });
}

function statements(sql: () => Sql): void {
  test('defines, inserts, updates, deletes and selects, and counts rows', async () => {
    const on = sql();
    const table = await numbers(on, 3);
    assert.equal(await on.execute(`update ${table} set n = ? where id > ?`, [7, 1]), 2);
    assert.equal(await on.execute(`delete from ${table} where id = ?`, [3]), 1);
    assert.equal(await on.execute(`delete from ${table} where id = ?`, [3]), 0);
    assert.equal(await on.execute(`create index i_${table} on ${table} (v)`), 0);
    const rows = await on.query(`select id, n, v from ${table} order by id limit 10;`);
    assert.deepEqual(rows, [
      { id: 1, n: 0, v: 'v1' },
      { id: 2, n: 7, v: 'v2' },
    ]);
    assert.equal(await on.execute(`drop table ${table}`), 0);
  });

  test('parameters mean the same however they are written', async () => {
    const on = sql();
    const table = await numbers(on, 3);
    const ways: [string, SqlParams][] = [
      ['id = ? or (v = ? and id < ?)', [1, 'v3', 4]],
      ['id = $1 or (v = $2 and id < $3)', [1, 'v3', 4]],
      ['id = $2 or (v = $1 and id < $3)', ['v3', 1, 4]],
      ['id = ?2 or (v = ?1 and id < ?3)', ['v3', 1, 4]],
      ['id = :id or (v = :v and id < :top)', { top: 4, v: 'v3', id: 1 }],
    ];
    for (const [where, params] of ways) {
      const rows = await on.query(`select id from ${table} where ${where} order by id`, params);
      assert.deepEqual(rows, [{ id: 1 }, { id: 3 }], where);
    }
    const repeated = `select id from ${table} where id = $1 or n = $1 or id = $2 or id = $1 order by id`;
    assert.deepEqual(await on.query(repeated, [2, 3]), [{ id: 2 }, { id: 3 }]);
    assert.equal((await on.query(`select id from ${table} limit ?`, [2])).length, 2);
  });

  test('quoted names, and comments between words', async () => {
    const on = sql();
    const table = freshTable();
    await on.execute(`create table "${table}" ("from" integer, "it's ?" integer)`);
    await on.execute(`insert into "${table}" ("from", "it's ?") values (?, ?)`, [1, 2]);
    const asked = `select/* ? 'x' ; */"from" -- it's ; ?\n, "it's ?" from "${table}" where "it's ?" = ?`;
    assert.deepEqual(await on.query(asked, [2]), [{ from: 1, "it's ?": 2 }]);
  });

  test('columns may have any name, those of members that every object has too', async () => {
    const on = sql();
    const table = await numbers(on, 1);
    const names = ['__proto__', '__defineGetter__', 'constructor', 'toString', 'hasOwnProperty'];
    const columns = names.map((name) => `id as "${name}"`).join(', ');
    const [row] = await on.query(`select ${columns} from ${table}`);
    assert.deepEqual(
      Object.entries(row ?? {}),
      names.map((name) => [name, 1]),
    );
  });
}

function readOnly(sql: () => Sql): void {
  test('I1: what writes is refused by the database when it comes as a query', async () => {
    const on = sql();
    const table = await numbers(on, 2);
    const refused = { code: 'validation_error' };
    await assert.rejects(on.smuggle(`delete from ${table} where id = ?`, [1]), refused);
    await assert.rejects(on.smuggle(`update ${table} set n = ?`, [1]), refused);
    await assert.rejects(on.smuggle(`insert into ${table} values (?, ?, ?)`, [9, 9, '']), refused);
    await assert.rejects(on.smuggle(`drop table ${table}`, []), refused);
    assert.equal((await on.query(`select id from ${table} where n = ?`, [0])).length, 2);
  });

  test('the database acts on one statement at most', async () => {
    const on = sql();
    const table = await numbers(on, 2);
    const two = `delete from ${table} where id = 1; delete from ${table}`;
    const statement = { kind: 'rows', pieces: [two], gaps: [], values: [] } as const;
    await on.backend.execute([statement], write(on.tenant)).catch(() => {});
    assert.deepEqual(await on.query(`select id from ${table} where id = ?`, [2]), [{ id: 2 }]);
  });
}

function atomicity(sql: () => Sql): void {
  test('I2: keeps all statements or none, and says which one failed', async () => {
    const on = sql();
    const table = await numbers(on, 1);
    const insert = `insert into ${table} (id, n, v) values (?, ?, ?)`;
    assert.deepEqual(await on.transaction([insert, [2, 0, '']], [`update ${table} set n = ?`, [5]]), [1, 2]);
    const wrong: [string, SqlParams][] = [
      [insert, [1, 0, 'again']],
      [`insert into ${table} (nope) values (?)`, [1]],
      ['update there_is_no_such_table set n = ?', [1]],
    ];
    for (const last of wrong)
      await assert.rejects(
        on.transaction([insert, [3, 0, '']], [`delete from ${table} where id = ?`, [2]], last),
        (error: { code: string; details: { operation: number } }) =>
          /^sql_(?:transaction_aborted|syntax_error)$/.test(error.code) && error.details.operation === 2,
      );
    const rows = await on.query(`select id, n from ${table} order by id`);
    assert.deepEqual(rows, [
      { id: 1, n: 5 },
      { id: 2, n: 5 },
    ]);
  });

  test('transactions that come at once all count', async () => {
    const on = sql();
    const table = await numbers(on, 1);
    const add: [string, SqlParams] = [`update ${table} set n = n + ? where id = ?`, [1, 1]];
    await Promise.all(Array.from({ length: 12 }, () => on.transaction(add, add)));
    assert.deepEqual(await on.query(`select n from ${table}`), [{ n: 24 }]);
  });
}

function bounds(sql: () => Sql, hasty: (tenant: string) => Sql): void {
  const aborts = (reason: string) => ({ code: 'sql_transaction_aborted', details: { reason } });

  test('I3: rows and bytes', async () => {
    const on = sql();
    const table = await numbers(on, SQL_CONTRACT_LIMITS.rowsMax + 1);
    await assert.rejects(on.query(`select id from ${table}`), aborts('rows'));
    assert.equal((await on.query(`select id from ${table} limit 100`)).length, 100);
    await assert.rejects(on.query(`select a.id from ${table} a cross join ${table} b`), aborts('rows'));
    await on.execute(`update ${table} set v = ?`, ['x'.repeat(2_000)]);
    await assert.rejects(on.query(`select v from ${table} limit 100`), aborts('bytes'));
    assert.equal((await on.query(`select v from ${table} limit 20`)).length, 20);
  });

  test('I3: time; another statement is served meanwhile and afterwards, and nothing is kept', async () => {
    const on = sql();
    const table = await numbers(on, 100);
    const joined = ['a', 'b', 'c', 'd', 'e'].map((name) => `${table} ${name}`).join(' cross join ');
    const startedAt = Date.now();
    const slow = hasty(on.tenant).query(`select sum(a.n + b.n + c.n + d.n + e.n) as s from ${joined}`);
    const refused = assert.rejects(slow, aborts('timeout'));
    assert.equal((await on.query(`select id from ${table} where id = ?`, [1])).length, 1);
    await refused;
    const endless = `update ${table} set n = (select sum(a.id + b.id + c.id + d.id + e.id) from ${joined})`;
    await assert.rejects(hasty(on.tenant).execute(endless), { code: 'sql_transaction_aborted' });
    assert.ok(Date.now() - startedAt < 60_000);
    assert.equal((await on.query(`select id from ${table} where n = ?`, [0])).length, 100);
    assert.equal(await on.execute(`update ${table} set n = ? where id = ?`, [1, 1]), 1);
  });
}

function failures(sql: () => Sql): void {
  test('says what is wrong with a statement, and that nothing was kept', async () => {
    const on = sql();
    const table = await numbers(on, 1);
    const wrong = { code: 'sql_syntax_error' };
    await assert.rejects(on.query(`select nope from ${table}`), wrong);
    await assert.rejects(on.query('select from where'), wrong);
    await assert.rejects(on.query('select id from there_is_no_such_table'), wrong);
    await assert.rejects(on.execute(`insert into ${table} (id) values (?)`, [1]), {
      code: 'sql_transaction_aborted',
      details: { reason: 'constraint', operation: 0 },
    });
    assert.deepEqual(await on.query(`select id from ${table}`), [{ id: 1 }]);
  });
}

/** I6, for backends with a journal of their own. */
export function sqlOnceContract(name: string, open: () => Promise<OpenedSql>): void {
  test(`sql backend: ${name}: I6: one invocation acts once`, async (t) => {
    const { backend, close } = await open();
    t.after(close);
    assert.equal(backend.journal, 'own');
    const on = talk(backend);
    const table = await numbers(on, 1);
    const add = (options: WriteOptions) =>
      on.execute(`update ${table} set n = n + ? where id = ?`, [1, 1], options);
    const call = { id: 'one', method: 'sql.execute', input: { sql: 'add' } };
    assert.deepEqual(await Promise.all([add(call), add(call), add(call)]), [1, 1, 1]);
    assert.deepEqual(await on.query(`select n from ${table}`), [{ n: 1 }]);
    assert.equal(await add({ ...call, input: { sql: 'another' } }), 1);
    assert.deepEqual(await on.query(`select n from ${table}`), [{ n: 1 }]);
    const mismatch = { code: 'idempotency_key_mismatch', message: /was sql\.execute when/ };
    await assert.rejects(add({ ...call, method: 'sql.transaction' }), mismatch);
    await assert.rejects(on.execute(`update ${table} set id = n + nope`, [], { id: 'two' }));
    const later = on.execute(`update ${table} set n = ?`, [0], { id: 'two' });
    assert.equal(await later, 1, 'a refusal leaves no trace');
  });
}
