import { test } from 'node:test';
import postgres from 'postgres';
import { storeContract } from '../contract.ts';
import { freshDatabase } from '../testing/postgres-server.ts';
import { openPostgres } from './open.ts';

const database = await freshDatabase();
if ('skip' in database) {
  test('postgres store', { skip: database.skip }, () => {});
} else {
  storeContract('postgres', async () => {
    const store = await openPostgres(database);
    const sql = postgres(database.url, { max: 1 });
    const tables = await sql<{ tablename: string }[]>`
      select tablename from pg_tables where schemaname = 'public' and tablename <> 'gantry_schema'
    `;
    return {
      store,
      async clear() {
        await sql.unsafe(`truncate ${tables.map((table) => table.tablename).join(', ')}`);
      },
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
