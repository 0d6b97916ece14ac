import { embeddedCache } from '../embedded/cache.ts';
import type { EmbeddedDatabase } from '../embedded/database.ts';
import { type OpenedPort, openPort, SETTINGS } from '../open-port.ts';
import type { CachePort } from '../ports/cache.ts';
import { postgresBackends } from '../postgres/backends.ts';
import { postgresCache } from '../postgres/cache.ts';
import type { PostgresPool } from '../postgres/connection.ts';

export interface OpenCacheDeps {
  readonly embedded: EmbeddedDatabase;
  readonly pool: PostgresPool;
  /** For each tenant. */
  readonly capacityBytes: number;
}

export const openCache = (
  setting: string | undefined,
  { embedded, pool, capacityBytes }: OpenCacheDeps,
): Promise<OpenedPort<CachePort>> =>
  openPort({
    name: SETTINGS.cache,
    value: setting,
    embedded: embeddedCache(embedded, { capacityBytes }),
    backends: postgresBackends(pool, (database) => postgresCache(database, { capacityBytes })),
  });
