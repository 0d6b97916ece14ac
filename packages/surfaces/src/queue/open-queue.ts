import type { EmbeddedDatabase } from '../embedded/database.ts';
import { type OpenedPort, openPort, SETTINGS } from '../open-port.ts';
import type { QueueDeps, QueuePort } from '../ports/queue.ts';
import { postgresBackends } from '../postgres/backends.ts';
import type { PostgresPool } from '../postgres/connection.ts';
import { postgresQueue } from '../postgres/queue.ts';
import { embeddedQueue } from './embedded-queue.ts';

export interface OpenQueueDeps extends QueueDeps {
  readonly embedded: EmbeddedDatabase;
  readonly pool: PostgresPool;
}

/** `postgres://`, or nothing for the data folder. Who opens it closes the port. */
export const openQueue = (setting: string | undefined, deps: OpenQueueDeps): Promise<OpenedPort<QueuePort>> =>
  openPort({
    name: SETTINGS.queue,
    value: setting,
    embedded: embeddedQueue(deps.embedded, deps),
    backends: postgresBackends(deps.pool, (database) => postgresQueue(database, deps)),
  });
