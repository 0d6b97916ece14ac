import { VECTORS_CONTRACT_LIMITS, vectorsContract } from '../ports/vectors-contract.ts';
import { freshFolder } from '../testing/data-dir.ts';
import { openDatabase } from './database.ts';
import { embeddedVectors } from './vectors.ts';

vectorsContract('embedded', async () => {
  const folder = freshFolder();
  const database = openDatabase({ dataDir: folder.path });
  return {
    port: embeddedVectors(database, VECTORS_CONTRACT_LIMITS),
    async close() {
      await database.close();
      folder.remove();
    },
  };
});
