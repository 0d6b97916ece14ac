import type { EmbeddedDatabase } from '../embedded/database.ts';
import { embeddedKv } from '../embedded/kv.ts';
import { type OpenedPort, openPort, SETTINGS } from '../open-port.ts';
import type { KvPort } from '../ports/kv.ts';
import { postgresBackends } from '../postgres/backends.ts';
import type { PostgresPool } from '../postgres/connection.ts';
import { postgresKv } from '../postgres/kv.ts';
import { redisKv } from '../redis/kv.ts';
import { type RedisPool, redisBackends } from '../redis/pool.ts';

export interface OpenKvDeps {
  readonly embedded: EmbeddedDatabase;
  readonly pool: PostgresPool;
  readonly redis: RedisPool;
  /** Of keys and values, for each tenant. */
  readonly quotaBytes: number;
}

export const openKv = (
  setting: string | undefined,
  { embedded, pool, redis, quotaBytes }: OpenKvDeps,
): Promise<OpenedPort<KvPort>> =>
  openPort({
    name: SETTINGS.kv,
    value: setting,
    embedded: embeddedKv(embedded, { quotaBytes }),
    backends: {
      ...postgresBackends(pool, (database) => postgresKv(database, { quotaBytes })),
      ...redisBackends(redis, 'durable', (deps) => redisKv({ ...deps, quotaBytes })),
    },
  });
