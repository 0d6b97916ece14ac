import { cacheContract } from '../ports/cache-contract.ts';
import { freshFolder } from '../testing/data-dir.ts';
import { embeddedCache } from './cache.ts';
import { openEmbeddedDatabase } from './database.ts';

cacheContract('embedded', async () => {
  const folder = freshFolder();
  const database = await openEmbeddedDatabase({ dataDir: folder.path });
  return {
    portOf: (capacityBytes) => embeddedCache(database, { capacityBytes }),
    async close() {
      await database.close();
      folder.remove();
    },
  };
});
