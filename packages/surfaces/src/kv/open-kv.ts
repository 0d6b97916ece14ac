import type { EmbeddedDatabase } from '../embedded/database.ts';
import { embeddedKv } from '../embedded/kv.ts';
import { type OpenedPort, openPort, SETTINGS } from '../open-port.ts';
import type { KvPort } from '../ports/kv.ts';
import { postgresBackends } from '../postgres/backends.ts';
import type { PostgresPool } from '../postgres/connection.ts';
import { postgresKv } from '../postgres/kv.ts';

export interface OpenKvDeps {
  readonly embedded: EmbeddedDatabase;
  readonly pool: PostgresPool;
  /** Of keys and values, for each tenant. */
  readonly quotaBytes: number;
}

export const openKv = (
  setting: string | undefined,
  { embedded, pool, quotaBytes }: OpenKvDeps,
): Promise<OpenedPort<KvPort>> =>
  openPort({
    name: SETTINGS.kv,
    value: setting,
    embedded: embeddedKv(embedded, { quotaBytes }),
    backends: postgresBackends(pool, (database) => postgresKv(database, { quotaBytes })),
  });
