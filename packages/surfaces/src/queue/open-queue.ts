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

/**
 * `postgres://`, `nats://` (or `nats+tls://`), `amqp://` (or `amqps://`), or nothing for the data folder. Who opens
 * it closes the port.
 */
export function openQueue(setting: string | undefined, deps: OpenQueueDeps): Promise<OpenedPort<QueuePort>> {
  const over = (kind: string, port: QueuePort): OpenedPort<QueuePort> => ({
    kind,
    port,
    health: () => port.health(),
  });
  // Clients are loaded where a setting names their server: together they cost 100 ms and 15 MB.
  const nats = async (url: string) =>
    over('nats', (await import('../queue-nats/queue.ts')).openNatsQueue(url, deps));
  const rabbit = async (url: string) =>
    over('rabbitmq', (await import('../queue-rabbitmq/queue.ts')).openRabbitQueue(url, deps));
  return openPort({
    name: SETTINGS.queue,
    value: setting,
    embedded: embeddedQueue(deps.embedded, deps),
    backends: {
      ...postgresBackends(deps.pool, (database) => postgresQueue(database, deps)),
      nats,
      'nats+tls': nats,
      amqp: rabbit,
      amqps: rabbit,
    },
  });
}
