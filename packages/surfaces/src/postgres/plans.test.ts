/** How statements find what has expired, and that triggers count what is deleted. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openTestPostgres, postgresSkip } from '../testing/postgres.ts';

describe('PostgreSQL', { skip: postgresSkip }, () => {
  test('entries are counted by triggers; what has expired is found by an index', async (t) => {
    const { database, close } = await openTestPostgres();
    t.after(close);
    await database.upkeep(async (tx) => {
      await tx`insert into kv select 'a', '', 'k' || n, '1', 300, null from generate_series(1, 3) n`;
      await tx`
        insert into cache (tenant, namespace, key, value, bytes, stored_at, used_at, expires_at)
        select 'a', '', 'k' || n, '1', 300, 1, 1, 1 from generate_series(1, 3) n
      `;
    });
    const used = await database.read(
      (sql) => sql`
      select area, sum(bytes)::bigint as bytes from usage group by area order by area
    `,
    );
    assert.deepEqual(
      [...used],
      ['cache', 'kv'].map((area) => ({ area, bytes: 900 })),
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
