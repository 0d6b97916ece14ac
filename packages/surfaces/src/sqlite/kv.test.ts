import { kvContract } from '../ports/kv-contract.ts';
import { freshFolder } from '../testing/data-dir.ts';
import { openEmbeddedDatabase } from './database.ts';
import { embeddedKv } from './kv.ts';

kvContract('embedded', async () => {
  const folder = freshFolder();
  const database = await openEmbeddedDatabase({ dataDir: folder.path });
  return {
    portOf: (quotaBytes) => embeddedKv(database, { quotaBytes }),
    async close() {
      await database.close();
      folder.remove();
    },
  };
});
