/** What a SQL backend on a server must do when tenants share its sessions. Statements here were judged by nobody. */
import assert from 'node:assert/strict';
import { before, type TestContext, test } from 'node:test';
import { read, write } from '../testing/calls.ts';
import { talk } from '../testing/sql-talk.ts';
import type { SqlBackend, SqlStatement, SqlValue } from './sql.ts';
import { SQL_CONTRACT_LIMITS } from './sql-contract.ts';

export interface SessionChange {
  readonly change: string;
  /** One value, which the change would alter. */
  readonly look: string;
}

export interface SqlSessionsContract {
  /** With `SQL_CONTRACT_LIMITS`, unless another time is given. */
  open(timeoutMs?: number): SqlBackend;
  /** Takes longer than it may. */
  readonly slow: string;
  /** One row of some 100 MB. */
  readonly large: { readonly sql: string; readonly values: readonly SqlValue[] };
  readonly changes: readonly SessionChange[];
}

const TENANTS = 6;
const SLOW_CALLS = 4;
/** Has one row, for all to see. */
export const SHARED_TABLE = `shared_${process.pid}`;
const MEMORY_MAX = 30_000_000;
/** The next one where a busy machine served nobody in time. */
const SLOW_TIMEOUTS_MS = [1_000, 4_000, 16_000];

const raw = (sql: string, values: readonly SqlValue[] = []): SqlStatement => {
  const pieces = sql.split('?');
  return { kind: 'rows', pieces, gaps: pieces.slice(1).map((_, index) => index), values };
};

/** More than there are sessions, so that none is left out. */
const ofMany = <T>(name: string, work: (tenant: string) => Promise<T>): Promise<T>[] =>
  Array.from({ length: TENANTS }, (_, index) => work(`${name}-${index}`));

let tables = 0;

/** What other tenants see in the sessions that read, and in those that write. */
async function lookAround(backend: SqlBackend, look: string) {
  const asked = await Promise.all(ofMany('other', (tenant) => backend.query(raw(look), read(tenant))));
  const table = `seen_${process.pid}_${tables++}`;
  const on = talk(backend);
  await on.execute(`create table ${table} (v text)`);
  const insert = raw(`insert into ${table} ${look}`);
  await Promise.all(ofMany('other', (tenant) => backend.execute([insert], write(tenant))));
  return {
    reading: new Set(asked.flatMap((rows) => rows.flatMap((row) => Object.values(row)))),
    writing: await on.query(`select distinct v from ${table}`),
  };
}

export function sqlSessionsContract(name: string, contract: SqlSessionsContract): void {
  const opened = (t: TestContext, timeoutMs?: number): SqlBackend => {
    const backend = contract.open(timeoutMs);
    t.after(() => backend.close());
    return backend;
  };
  before(async () => {
    const backend = contract.open();
    await talk(backend).execute(`create table ${SHARED_TABLE} (v text)`);
    await talk(backend).execute(`insert into ${SHARED_TABLE} values (?)`, ['shared']);
    await backend.close();
  });

  const isServedBesideSlow = async (backend: SqlBackend): Promise<boolean> => {
    const on = talk(backend, 'other');
    await on.query('select 1 as one');
    let ended = 0;
    const slow = Array.from({ length: SLOW_CALLS }, async () => {
      await assert.rejects(backend.query(raw(contract.slow), read('acme')), {
        code: 'sql_transaction_aborted',
        details: { reason: 'timeout' },
      });
      ended++;
    });
    for (let call = 0; call < 3; call++) assert.deepEqual(await on.query('select 1 as one'), [{ one: 1 }]);
    const isBeside = ended === 0;
    await Promise.all(slow);
    return isBeside;
  };

  for (const { change, look } of contract.changes)
    test(`${name}: the next call finds nothing of: ${change}`, async (t) => {
      const backend = opened(t);
      const before = await lookAround(backend, look);
      await Promise.allSettled(ofMany('acme', (tenant) => backend.query(raw(change), read(tenant))));
      await Promise.allSettled(ofMany('acme', (tenant) => backend.execute([raw(change)], write(tenant))));
      assert.deepEqual(await lookAround(backend, look), before);
    });

  test(`${name}: slow work of one tenant neither ends nor delays that of another`, async (t) => {
    for (const timeoutMs of SLOW_TIMEOUTS_MS) if (await isServedBesideSlow(opened(t, timeoutMs))) return;
    assert.fail('served only after the others had ended');
  });

  test(`${name}: a row of any size is refused before it is in memory`, async (t) => {
    const backend = opened(t);
    const on = talk(backend);
    await on.query('select 1 as one');
    const { sql, values } = contract.large;
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    const looking = setInterval(() => {
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }, 1);
    t.after(() => clearInterval(looking));
    const large = { code: 'sql_transaction_aborted', details: { reason: 'bytes' } };
    await assert.rejects(backend.query(raw(sql, values), read(on.tenant)), large);
    assert.ok(most < MEMORY_MAX, `${most} bytes for an answer of at most ${SQL_CONTRACT_LIMITS.bytesMax}`);
    assert.deepEqual(await on.query('select 1 as one'), [{ one: 1 }]);
  });
}
