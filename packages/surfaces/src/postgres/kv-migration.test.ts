/** What 0007 makes of a database that an older version has written, and of the plans of statements. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import postgres from 'postgres';
import { entryBytes } from '../kv/entry-bytes.ts';
import { openTestPostgres, postgresSkip } from '../testing/postgres.ts';

const BEFORE = 6;
const MIGRATIONS = join(import.meta.dirname, 'migrations');
const entry = { namespace: 'é', key: 'ü', value: '"🙂"' };
const KEYS = [entry.key, 'k', 'l'];

/** As version 6 has left it. */
async function writeOld(url: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  await sql.unsafe('create schema gantry_surfaces; set search_path to gantry_surfaces');
  await sql.unsafe(`create table schema_version (version integer not null)`);
  for (const file of readdirSync(MIGRATIONS).sort().slice(0, BEFORE))
    await sql.unsafe(readFileSync(join(MIGRATIONS, file), 'utf8'));
  await sql`insert into schema_version values (${BEFORE})`;
  for (const key of KEYS) {
    const { namespace, value } = entry;
    await sql`insert into kv values ('a', ${namespace}, ${key}, ${value}, 8, null)`;
    await sql`
      insert into cache (tenant, namespace, key, value, bytes, stored_at, used_at, expires_at)
      values ('a', ${namespace}, ${key}, ${value}, 8, 1, 1, 1)
    `;
  }
  await sql.end();
}

describe('PostgreSQL', { skip: postgresSkip }, () => {
  test('entries of an older version are counted anew; what has expired is found by an index', async (t) => {
    const { database, url, close } = await openTestPostgres();
    t.after(close);
    await writeOld(url);
    const bytes = KEYS.reduce((sum, key) => sum + entryBytes({ ...entry, key }, entry.value), 0);
    const used = await database.read(
      (sql) => sql`
      select area, sum(bytes)::bigint as bytes from usage group by area order by area
    `,
    );
    assert.deepEqual(
      [...used],
      ['cache', 'kv'].map((area) => ({ area, bytes })),
    );
    for (const table of ['kv', 'cache', 'queue_messages']) {
      const plan = await database.upkeep(async (tx) => {
        await tx`set local enable_seqscan = off`;
        return tx.unsafe(`explain select 1 from ${table} where tenant = 't' and expires_at <= 5
          order by expires_at limit 500`);
      });
      assert.match(JSON.stringify(plan), new RegExp(`${table}_of_tenant_by_expiry`));
    }
    await database.upkeep((tx) => tx`delete from kv`);
    await database.upkeep((tx) => tx`delete from cache`);
    const [left] = await database.read((sql) => sql`select sum(bytes)::bigint as bytes from usage`);
    assert.equal(left?.bytes, 0);
  });
});
