/** What a SQL backend on a server must do when the server is away, I5, and with decimals that only servers keep, I4. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Gate, openGate } from '../testing/gate.ts';
import { talk } from '../testing/sql-talk.ts';
import type { SqlBackend } from './sql.ts';

export interface SqlServerContract {
  /** Of the real server. */
  readonly url: string;
  /** With a timeout of `SQL_SERVER_TIMEOUT_MS`. */
  open(url: string): SqlBackend;
}

export const SQL_SERVER_TIMEOUT_MS = 3_000;
const BOUND_MS = 60_000;
const SECRET = 'pass-word-of-the-test';

export function sqlServerContract(name: string, { url, open }: SqlServerContract): void {
  const behindGate = async (t: TestContext): Promise<{ gate: Gate; backend: SqlBackend }> => {
    const { hostname, port } = new URL(url);
    const gate = await openGate({ host: hostname, port: Number(port) });
    const through = new URL(url);
    through.port = String(gate.port);
    const backend = open(through.href);
    t.after(async () => {
      await backend.close();
      await gate.close();
    });
    return { gate, backend };
  };
  const away = { code: 'storage_unavailable' };
  const table = `away_${process.pid}`;

  test(`${name}: I5: refuses while the server is away, and serves when it is back`, async (t) => {
    const { gate, backend } = await behindGate(t);
    const on = talk(backend);
    await on.execute(`create table ${table} (id integer primary key)`);
    await on.execute(`insert into ${table} values (?)`, [1]);
    await gate.shut();
    const startedAt = Date.now();
    await assert.rejects(on.query(`select id from ${table}`), away);
    await assert.rejects(on.execute(`insert into ${table} values (?)`, [2]), away);
    await assert.rejects(backend.health(), away);
    assert.ok(Date.now() - startedAt < BOUND_MS);
    await gate.reopen();
    await backend.health();
    assert.deepEqual(await on.query(`select id from ${table}`), [{ id: 1 }]);
    assert.equal(await on.execute(`insert into ${table} values (?)`, [2]), 1);
    await on.execute(`drop table ${table}`);
  });

  test(`${name}: I5: a server that goes silent keeps nobody waiting, and what it had begun is not kept`, async (t) => {
    const { gate, backend } = await behindGate(t);
    const on = talk(backend);
    const silent = `${table}_silent`;
    await on.execute(`create table ${silent} (id integer primary key)`);
    await on.query(`select id from ${silent}`);
    const hushed = gate.hushAfter('insert into');
    const startedAt = Date.now();
    const write = assert.rejects(on.execute(`insert into ${silent} values (?)`, [1]), away);
    await hushed;
    const read = assert.rejects(on.query(`select id from ${silent}`), away);
    await Promise.all([write, read]);
    gate.speak();
    assert.ok(Date.now() - startedAt < BOUND_MS);
    assert.deepEqual(await on.query(`select id from ${silent}`), []);
  });

  test(`${name}: I4: a decimal that no number holds is text with all its digits`, async (t) => {
    const backend = open(url);
    t.after(() => backend.close());
    const long = `${table}_long`;
    const on = talk(backend);
    await on.execute(`create table ${long} (id integer, v decimal(30, 5))`);
    t.after(() => on.execute(`drop table ${long}`).catch(() => {}));
    const kept = ['12345678901234567.25000', '9007199254740993.00000', '0.00001', '1234567890.12345'];
    for (const [id, v] of kept.entries()) await on.execute(`insert into ${long} values (?, ?)`, [id, v]);
    const rows = await on.query(`select v from ${long} order by id`);
    assert.deepEqual(
      rows.map(({ v }) => v),
      ['12345678901234567.25', '9007199254740993', 0.000_01, 1_234_567_890.123_45],
    );
    assert.deepEqual(await on.query(`select sum(v) as v from ${long} where id < ?`, [2]), [
      { v: '21352878155975560.25' },
    ]);
  });

  test(`${name}: no password in any message`, async (t) => {
    const wrong = new URL(url);
    wrong.password = SECRET;
    wrong.username = 'nobody-of-that-name';
    const backend = open(wrong.href);
    t.after(() => backend.close());
    await assert.rejects(backend.health(), (error: Error) => {
      assert.equal((error as Error & { code: string }).code, 'storage_unavailable');
      assert.doesNotMatch(error.message, new RegExp(`${SECRET}|nobody-of`));
      return true;
    });
  });
}
