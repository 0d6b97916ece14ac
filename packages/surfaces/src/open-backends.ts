/** Each port with the backend that its setting names: `postgres://` (blobs: `s3://`), or nothing for the data folder. */

import { embeddedQueue } from './capabilities/queue/embedded-queue.ts';
import { type OpenedPort, openPort, SETTINGS } from './open-port.ts';
import type { BlobPort } from './ports/blobs.ts';
import type { CachePort } from './ports/cache.ts';
import type { DocumentLimits, DocumentsPort } from './ports/documents.ts';
import type { KvPort } from './ports/kv.ts';
import type { QueueDeps, QueuePort } from './ports/queue.ts';
import type { SearchLimits, SearchPort } from './ports/search.ts';
import { postgresCache } from './postgres/cache.ts';
import type { PostgresDatabase, PostgresPool } from './postgres/connection.ts';
import { postgresDocuments } from './postgres/documents.ts';
import { postgresKv } from './postgres/kv.ts';
import { postgresQueue } from './postgres/queue.ts';
import { postgresSearch } from './postgres/search.ts';
import { openS3Blobs } from './s3/blobs.ts';
import { readS3Address } from './s3/connect.ts';
import { embeddedCache } from './sqlite/cache.ts';
import type { EmbeddedDatabase, RetrievalDatabase } from './sqlite/database.ts';
import { embeddedDocuments } from './sqlite/documents.ts';
import { embeddedKv } from './sqlite/kv.ts';
import { embeddedSearch } from './sqlite/search.ts';

interface Deps<Database> {
  readonly embedded: Database;
  readonly pool: PostgresPool;
}

type Opening<Port, Given> = (setting: string | undefined, given: Given) => Promise<OpenedPort<Port>>;

interface Ways<Port, Given> {
  embedded(given: Given): Port;
  postgres(database: PostgresDatabase, given: Given): Port;
}

/** By both schemes that PostgreSQL's own tools take. */
function opening<Port, Given extends Deps<unknown>>(
  port: keyof typeof SETTINGS,
  { embedded, postgres }: Ways<Port, Given>,
): Opening<Port, Given> {
  return (value, given) => {
    const open = async (url: string): Promise<OpenedPort<Port>> => {
      const database = given.pool.open(url);
      return { kind: 'postgres', port: postgres(database, given), health: () => database.health() };
    };
    const backends = { postgres: open, postgresql: open };
    return openPort({ name: SETTINGS[port], value, embedded: embedded(given), backends });
  };
}

/** `quotaBytes`: of keys and values, for each tenant. */
export const openKv = opening<KvPort, Deps<EmbeddedDatabase> & { readonly quotaBytes: number }>('kv', {
  embedded: (given) => embeddedKv(given.embedded, given),
  postgres: postgresKv,
});

/** `capacityBytes`: for each tenant. */
export const openCache = opening<CachePort, Deps<EmbeddedDatabase> & { readonly capacityBytes: number }>(
  'cache',
  { embedded: (given) => embeddedCache(given.embedded, given), postgres: postgresCache },
);

/** `limits`: tables and collections are two ports over one database. */
export const openDocuments = opening<
  DocumentsPort,
  Deps<EmbeddedDatabase> & { readonly limits: DocumentLimits }
>('documents', {
  embedded: ({ embedded, limits }) => embeddedDocuments(embedded, limits),
  postgres: (database, { limits }) => postgresDocuments(database, limits),
});

export const openSearch = opening<SearchPort, Deps<RetrievalDatabase> & { readonly limits: SearchLimits }>(
  'search',
  {
    embedded: ({ embedded, limits }) => embeddedSearch(embedded, limits),
    postgres: (database, { limits }) => postgresSearch(database, limits),
  },
);

/** The caller closes the port. */
export const openQueue = opening<QueuePort, Deps<EmbeddedDatabase> & QueueDeps>('queue', {
  embedded: (given) => embeddedQueue(given.embedded, given),
  postgres: postgresQueue,
});

/** `s3://bucket/prefix?endpoint=https://…&region=…` */
export const openBlobs: Opening<BlobPort, { readonly embedded: BlobPort }> = (value, { embedded }) =>
  openPort({
    name: SETTINGS.blobs,
    value,
    embedded,
    backends: {
      async s3(url) {
        const port = await openS3Blobs(readS3Address(new URL(url)));
        return { kind: 's3', port, health: port.health };
      },
    },
  });
