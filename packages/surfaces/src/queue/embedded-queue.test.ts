import { openEmbeddedDatabase } from '../embedded/database.ts';
import { queueContract } from '../ports/queue-contract.ts';
import { QUEUE_CONTRACT_BOUNDS } from '../ports/queue-user-contract.ts';
import { freshFolder } from '../testing/data-dir.ts';
import { embeddedQueue } from './embedded-queue.ts';

queueContract('embedded', async () => {
  const folder = freshFolder();
  const database = await openEmbeddedDatabase({ dataDir: folder.path });
  return {
    port: embeddedQueue(database, { now: Date.now, report: () => {}, bounds: QUEUE_CONTRACT_BOUNDS }),
    async close() {
      await database.close();
      folder.remove();
    },
  };
});
