import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createConnection } from 'mysql2/promise';
import { ServerError } from '../backend-errors.ts';
import { HASTY_LIMITS, SQL_CONTRACT_LIMITS, sqlContract } from '../ports/sql-contract.ts';
import { SQL_SERVER_TIMEOUT_MS, sqlServerContract } from '../ports/sql-server-contract.ts';
import { type SessionChange, SHARED_TABLE, sqlSessionsContract } from '../ports/sql-sessions-contract.ts';
import { findMysql } from '../testing/mariadb.ts';
import { talk } from '../testing/sql-talk.ts';
import { mysqlBackend } from './mysql.ts';
import { connectionOf } from './mysql-settings.ts';

const found = await findMysql();
const DATABASE = `gantry_test_${process.pid}`;

/** A database of its own on the server. */
async function fresh(server: string): Promise<string> {
  const url = new URL(server);
  url.pathname = '';
  const connection = await createConnection(connectionOf(url.href));
  await connection.query(`drop database if exists ${DATABASE}`);
  await connection.query(`create database ${DATABASE} character set utf8mb4`);
  await connection.end();
  url.pathname = DATABASE;
  return url.href;
}

const CHANGES: readonly SessionChange[] = [
  { change: 'set @theirs = 1', look: "select coalesce(@theirs, 'none')" },
  { change: "set session sql_mode = ''", look: 'select @@sql_mode' },
  { change: "set session time_zone = '+05:00'", look: 'select @@time_zone' },
  { change: 'set names latin1', look: 'select @@character_set_client' },
  {
    change: "select get_lock('theirs', 0)",
    look: "select coalesce(is_used_lock('theirs') = connection_id(), 0)",
  },
  { change: 'select last_insert_id(77)', look: 'select last_insert_id()' },
  { change: `create temporary table ${SHARED_TABLE} (v text)`, look: `select count(*) from ${SHARED_TABLE}` },
  { change: `lock tables ${SHARED_TABLE} write`, look: `select count(*) from ${SHARED_TABLE}` },
];
const LARGE = Array.from({ length: 10 }, (_, index) => `repeat(?, 1000) as v${index}`).join();

if ('skip' in found) test('MySQL as a data source', { skip: found.skip });
else {
  const url = await fresh(found.url);
  const open = (address: string, timeoutMs = SQL_CONTRACT_LIMITS.timeoutMs) =>
    mysqlBackend({ url: address, limits: { ...SQL_CONTRACT_LIMITS, timeoutMs } });
  describe('MySQL as a data source', () => {
    sqlContract('MySQL', async () => {
      const [backend, hasty] = [open(url), open(url, HASTY_LIMITS.timeoutMs)];
      const words = {
        bigKey: 'bigint primary key',
        bytes: 'longblob',
        time: 'datetime(3)',
        zonedTime: 'timestamp(3) null',
      };
      return {
        backend,
        hasty,
        words,
        close: async () => void (await Promise.all([backend.close(), hasty.close()])),
      };
    });
    sqlSessionsContract('MySQL', {
      open: (timeoutMs) => open(url, timeoutMs),
      slow: 'select sleep(60)',
      large: { sql: `select ${LARGE}`, values: Array.from({ length: 10 }, () => 'x'.repeat(10_000)) },
      changes: CHANGES,
    });
    sqlServerContract('MySQL', { url, open: (address) => open(address, SQL_SERVER_TIMEOUT_MS) });

    test('a definition inside a transaction is refused, since MySQL would commit what came before it', async (t) => {
      const backend = open(url);
      t.after(() => backend.close());
      const on = talk(backend);
      await on.execute('create table whole (id integer primary key)');
      const both = on.transaction(
        ['insert into whole values (?)', [1]],
        ['create table another (id integer)', []],
      );
      await assert.rejects(both, { code: 'validation_error' });
      assert.deepEqual(await on.query('select id from whole'), []);
    });

    test('knows a user that may reach files and settings of the server', async (t) => {
      const admin = await createConnection(connectionOf(url));
      const user = `'gantry_${process.pid}'@'%'`;
      await admin.query(`create user ${user} identified by 'test'`);
      await admin.query(`grant all on ${DATABASE}.* to ${user}`);
      const address = new URL(url);
      Object.assign(address, { username: `gantry_${process.pid}`, password: 'test' });
      const [ours, root] = [open(address.href), open(url)];
      t.after(async () => {
        await Promise.all([ours.close(), root.close()]);
        await admin.query(`drop user ${user}`);
        await admin.end();
      });
      assert.deepEqual(await ours.dangerousRights(), []);
      await admin.query(`grant file on *.* to ${user}`);
      assert.deepEqual(await ours.dangerousRights(), ['has the privilege FILE']);
      const all = ['has the privilege FILE', 'has the privilege SUPER'];
      assert.deepEqual([...(await root.dangerousRights())].sort(), all);
    });

    test('a user that cannot begin a session is refused in words that name neither it nor the database', async (t) => {
      const admin = await createConnection(connectionOf(url));
      const name = `gantry_barred_${process.pid}`;
      const address = new URL(url);
      Object.assign(address, { username: name, password: 'test' });
      const backend = open(address.href);
      t.after(async () => {
        await backend.close();
        await admin.query(`drop user '${name}'@'%'`);
        await admin.end();
      });
      await admin.query(`create user '${name}'@'%' identified by 'test'`);
      const refused = (why: RegExp) =>
        assert.rejects(backend.health(), (error: unknown) => {
          assert.ok(error instanceof ServerError && error.trouble === 'rejected', String(error));
          assert.match(error.message, why);
          assert.doesNotMatch(error.message, /gantry_/);
          return true;
        });
      await refused(/does not allow the user to use that database/);
      await admin.query(`grant all on ${DATABASE}.* to '${name}'@'%'`);
      await backend.health();
    });

    test('an address has no other settings than it says', () => {
      for (const setting of ['multipleStatements=true', 'flags=x', 'ssl-mode=maybe'])
        assert.throws(() => open(`${url}?${setting}`), /ssl-mode/);
      for (const setting of ['ssl-mode=constructor', 'ssl-mode=toString'])
        assert.throws(() => open(`${url}?${setting}`), /ssl-mode/);
    });

    test('an address that asks for it gets the name in the certificate checked', () => {
      const { ssl } = connectionOf('mysql://db.example.org/shop?ssl-mode=verify_identity');
      assert.deepEqual(ssl, { rejectUnauthorized: true, verifyIdentity: true });
      for (const host of ['10.0.0.7', '[::1]'])
        assert.throws(
          () => connectionOf(`mysql://${host}/shop?ssl-mode=verify_identity`),
          /not an IP address/,
        );
    });
  });
}
