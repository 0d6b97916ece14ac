import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { QueueBounds } from '../../ports/queue.ts';
import { queueContract } from '../../ports/queue-contract.ts';
import { QUEUE_LEASE_BOUNDS, queueLeaseContract } from '../../ports/queue-lease-contract.ts';
import { QUEUE_CONTRACT_BOUNDS } from '../../ports/queue-user-contract.ts';
import { queueWaitingContract } from '../../ports/queue-waiting-contract.ts';
import { openEmbeddedDatabase } from '../../sqlite/database.ts';
import { freshFolder } from '../../testing/data-dir.ts';
import { embeddedQueue } from './embedded-queue.ts';

async function opened(bounds: QueueBounds) {
  const folder = freshFolder();
  const database = await openEmbeddedDatabase({ dataDir: folder.path });
  return {
    path: join(folder.path, 'surfaces.db'),
    port: embeddedQueue(database, { now: Date.now, report: () => {}, bounds }),
    async close() {
      await database.close();
      folder.remove();
    },
  };
}

queueContract('embedded', () => opened(QUEUE_CONTRACT_BOUNDS));

queueLeaseContract('embedded', () => opened(QUEUE_LEASE_BOUNDS));

queueWaitingContract('embedded', async () => {
  const { port, path, close } = await opened({ ...QUEUE_CONTRACT_BOUNDS, quotaBytes: 1_048_576 });
  const recorded = async (tenant: string): Promise<number> => {
    const file = new DatabaseSync(path, { readOnly: true });
    const found = file.prepare('select count(*) as calls from invocations where tenant = ?').get(tenant);
    file.close();
    return Number(found?.calls);
  };
  return { ports: [port], recorded, close };
});
