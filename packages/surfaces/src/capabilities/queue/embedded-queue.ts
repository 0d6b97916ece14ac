/** Queues in the data folder of one process: publishing wakes waiting consumers. */
import { QUEUE_BOUNDS, type QueueDeps, type QueuePort } from '../../ports/queue.ts';
import type { EmbeddedDatabase } from '../../sqlite/database.ts';
import { embeddedQueueStore } from '../../sqlite/queue.ts';
import { Arrivals } from './arrivals.ts';
import { databaseQueue } from './database-queue.ts';

export const embeddedQueue = (
  database: EmbeddedDatabase,
  { now, report, bounds = QUEUE_BOUNDS }: QueueDeps,
): QueuePort =>
  databaseQueue({ store: embeddedQueueStore(database, bounds), arrivals: new Arrivals(), now, report });
