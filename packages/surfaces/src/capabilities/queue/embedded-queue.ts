/** Queues in the data folder of one process: publishing wakes waiting consumers. */
import { boundsOf, type QueueDeps, type QueuePort } from '../../ports/queue.ts';
import type { EmbeddedDatabase } from '../../sqlite/database.ts';
import { embeddedQueueStore } from '../../sqlite/queue.ts';
import { Arrivals } from './arrivals.ts';
import { databaseQueue } from './database-queue.ts';

export const embeddedQueue = (database: EmbeddedDatabase, deps: QueueDeps): QueuePort =>
  databaseQueue({
    store: embeddedQueueStore(database, boundsOf(deps)),
    arrivals: new Arrivals(),
    now: deps.now,
    report: deps.report,
  });
