import type { EmbeddedDatabase } from '../embedded/database.ts';
import { type OpenedPort, openPort } from '../open-port.ts';
import type { QueueDeps, QueuePort } from '../ports/queue.ts';
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
  const opened = async (kind: string, opening: Promise<QueuePort>): Promise<OpenedPort<QueuePort>> => {
    const port = await opening;
    return { kind, port, health: () => port.health() };
  };
  const postgres = async (url: string): Promise<QueuePort> => postgresQueue(await deps.pool.open(url), deps);
  // Clients are loaded where a setting names their server: together they cost 100 ms and 15 MB.
  const nats = async (url: string): Promise<QueuePort> =>
    (await import('../queue-nats/queue.ts')).openNatsQueue(url, deps);
  const rabbit = async (url: string): Promise<QueuePort> =>
    (await import('../queue-rabbitmq/queue.ts')).openRabbitQueue(url, deps);
  return openPort({
    ...{ name: 'GANTRY_QUEUE', value: setting, embedded: embeddedQueue(deps.embedded, deps) },
    backends: {
      postgres: (url) => opened('postgres', postgres(url)),
      postgresql: (url) => opened('postgres', postgres(url)),
      nats: (url) => opened('nats', nats(url)),
      'nats+tls': (url) => opened('nats', nats(url)),
      amqp: (url) => opened('rabbitmq', rabbit(url)),
      amqps: (url) => opened('rabbitmq', rabbit(url)),
    },
  });
}
