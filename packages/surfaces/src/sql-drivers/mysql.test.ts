import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createConnection } from 'mysql2/promise';
import { SQL_CONTRACT_LIMITS, sqlContract, talk } from '../ports/sql-contract.ts';
import { SQL_SERVER_TIMEOUT_MS, sqlServerContract } from '../ports/sql-server-contract.ts';
import { findMysql } from '../testing/mariadb.ts';
import { mysqlBackend } from './mysql.ts';
import { connectionOf } from './mysql-session.ts';

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

if ('skip' in found) test('MySQL as a data source', { skip: found.skip });
else {
  const url = await fresh(found.url);
  const open = (address: string, timeoutMs = SQL_CONTRACT_LIMITS.timeoutMs) =>
    mysqlBackend({ url: address, limits: { ...SQL_CONTRACT_LIMITS, timeoutMs } });
  describe('MySQL as a data source', () => {
    sqlContract('MySQL', async () => {
      const backend = open(url);
      const words = { bytes: 'longblob', time: 'datetime(3)', zonedTime: 'timestamp(3) null' };
      return { backend, words, close: () => backend.close() };
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

    test('an address has no other settings than it says', () => {
      for (const setting of ['multipleStatements=true', 'flags=x', 'ssl-mode=maybe'])
        assert.throws(() => open(`${url}?${setting}`), /ssl-mode/);
    });
  });
}
