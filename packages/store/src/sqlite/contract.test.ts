import { DatabaseSync } from 'node:sqlite';
import { storeContract } from '../contract.ts';
import { freshFolder } from '../testing/data-dir.ts';
import { databasePath } from './database.ts';
import { openSqlite } from './open.ts';

storeContract('sqlite', async () => {
  const folder = freshFolder();
  const store = await openSqlite({ dataDir: folder.path });
  const database = new DatabaseSync(databasePath(folder.path), { timeout: 60_000 });
  const tables = database
    .prepare(`select name from sqlite_schema where type = 'table' and name not like 'sqlite%'`)
    .all();
  return {
    store,
    async clear() {
      for (const { name } of tables) database.exec(`delete from ${name}`);
    },
    async blobCount() {
      return Number(database.prepare('select count(*) as count from blobs').get()?.count);
    },
    async close() {
      database.close();
      await store.close();
      folder.remove();
    },
  };
});
