import { openEmbeddedDatabase } from '../embedded/database.ts';
import type { QueueBounds } from '../ports/queue.ts';
import { queueContract } from '../ports/queue-contract.ts';
import { QUEUE_LEASE_BOUNDS, queueLeaseContract } from '../ports/queue-lease-contract.ts';
import { QUEUE_CONTRACT_BOUNDS } from '../ports/queue-user-contract.ts';
import { freshFolder } from '../testing/data-dir.ts';
import { embeddedQueue } from './embedded-queue.ts';

async function opened(bounds: QueueBounds) {
  const folder = freshFolder();
  const database = await openEmbeddedDatabase({ dataDir: folder.path });
  return {
    port: embeddedQueue(database, { now: Date.now, report: () => {}, bounds }),
    async close() {
      await database.close();
      folder.remove();
    },
  };
}

queueContract('embedded', () => opened(QUEUE_CONTRACT_BOUNDS));

queueLeaseContract('embedded', () => opened(QUEUE_LEASE_BOUNDS));
