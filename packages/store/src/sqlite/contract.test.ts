import { DatabaseSync } from 'node:sqlite';
import { storeContract } from '../contract.ts';
import { freshFolder } from '../testing/data-dir.ts';
import { databasePath } from './database.ts';
import { openSqlite } from './open.ts';

storeContract('sqlite', async () => {
  const folder = freshFolder();
  const store = await openSqlite({ dataDir: folder.path });
  return {
    store,
    async blobCount() {
      const database = new DatabaseSync(databasePath(folder.path), { readOnly: true });
      const { count } = database.prepare('select count(*) as count from blobs').get() ?? {};
      database.close();
      return Number(count);
    },
    async close() {
      await store.close();
      folder.remove();
    },
  };
});
