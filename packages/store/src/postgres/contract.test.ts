import assert from 'node:assert/strict';
import { test } from 'node:test';
import postgres from 'postgres';
import { storeContract } from '../contract.ts';
import { freshDatabase } from '../testing/postgres-server.ts';
import { openPostgres } from './open.ts';

const probe = await freshDatabase();
if ('skip' in probe) {
  test('postgres store', { skip: probe.skip }, () => {});
} else {
  await probe.drop();
  storeContract('postgres', async () => {
    const database = await freshDatabase();
    assert.ok('url' in database);
    const store = await openPostgres(database);
    const sql = postgres(database.url, { max: 1 });
    return {
      store,
      async blobCount() {
        const [row] = await sql<[{ count: number }]>`select count(*)::integer as count from blobs`;
        return row.count;
      },
      async close() {
        await sql.end();
        await store.close();
        await database.drop();
      },
    };
  });
}
