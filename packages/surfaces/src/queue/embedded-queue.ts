/** Queues in the data folder of one process: who waits is woken by who publishes. */
import type { EmbeddedDatabase } from '../embedded/database.ts';
import { embeddedQueueStore } from '../embedded/queue.ts';
import { QUEUE_BOUNDS, type QueueDeps, type QueuePort } from '../ports/queue.ts';
import { Arrivals } from './arrivals.ts';
import { databaseQueue } from './database-queue.ts';

export const embeddedQueue = (
  database: EmbeddedDatabase,
  { now, report, bounds = QUEUE_BOUNDS }: QueueDeps,
): QueuePort =>
  databaseQueue({
    store: embeddedQueueStore(database, bounds),
    arrivals: new Arrivals(),
    now,
    report,
    // The database is shared with other surfaces, and closed by who opened it
    close: async () => {},
  });
