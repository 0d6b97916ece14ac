/** Every port with the backend that its setting names; without one, in the data folder. */
import { openEmbeddedBlobs } from './blob/embedded-blobs.ts';
import { openBlobs } from './blob/open-blobs.ts';
import { openCache } from './cache/open-cache.ts';
import { openDocuments } from './documents/open-documents.ts';
import { openEmbeddedDatabase, openRetrievalDatabase } from './embedded/database.ts';
import { openFiles } from './files/open-files.ts';
import { openKv } from './kv/open-kv.ts';
import { NOSQL_LIMITS } from './nosql/surface.ts';
import type { SurfacesOptions } from './open-surfaces.ts';
import { createPostgresPool } from './postgres/connection.ts';
import { openQueue } from './queue/open-queue.ts';
import { createRedisPool } from './redis/pool.ts';
import { openSearch } from './search/open-search.ts';
import { SEARCH_LIMITS } from './search/surface.ts';
import { openSql } from './sql/open.ts';
import { TABLE_LIMITS } from './table/surface.ts';
import { openVectors } from './vector/open-vectors.ts';
import { VECTOR_LIMITS } from './vector/surface.ts';

const MIB = 1_048_576;
const GIB = 1_024 * MIB;

export type Ports = Awaited<ReturnType<typeof openPorts>>;

/** What is open already is closed when a later one cannot be opened. */
export async function openPorts(options: SurfacesOptions) {
  const closing: (() => Promise<unknown>)[] = [];
  try {
    return await open(options, closing);
  } catch (error) {
    await Promise.allSettled(closing.toReversed().map((close) => close()));
    throw error;
  }
}

async function open(options: SurfacesOptions, closing: (() => Promise<unknown>)[]) {
  const { dataDir, invocationRetentionMs, backends = {}, now = Date.now, report = () => {} } = options;
  const embedded = await openEmbeddedDatabase({ dataDir });
  closing.push(() => embedded.close());
  const retrieval = openRetrievalDatabase({ dataDir });
  closing.push(() => retrieval.close());
  const pool = createPostgresPool();
  closing.push(() => pool.close());
  const redis = createRedisPool({ invocationRetentionMs, report });
  closing.push(() => redis.close());
  const sql = await openSql(backends.datasources, { dataDir, invocationRetentionMs });
  closing.push(() => sql.close());

  const { kvQuotaBytes: quotaBytes = 256 * MIB, cacheCapacityBytes: capacityBytes = 64 * MIB } = options;
  const kv = await openKv(backends.kv, { embedded, pool, redis, quotaBytes });
  const cache = await openCache(backends.cache, { embedded, pool, redis, capacityBytes });
  const tables = await openDocuments(backends.documents, { embedded, pool, limits: TABLE_LIMITS });
  const documents = await openDocuments(backends.documents, { embedded, pool, limits: NOSQL_LIMITS });
  const vectors = await openVectors(backends.vectors, { embedded: retrieval, pool, limits: VECTOR_LIMITS });
  const search = await openSearch(backends.search, { embedded: retrieval, pool, limits: SEARCH_LIMITS });
  const queue = await openQueue(backends.queue, { embedded, pool, now, report });
  closing.push(() => queue.port.close());
  const ownBlobs = await openEmbeddedBlobs({
    ...{ database: embedded, dataDir, quotaBytes: options.blobQuotaBytes ?? GIB },
    ...(options.blobLinks && { links: options.blobLinks }),
  });
  const blobs = await openBlobs(backends.blobs, { embedded: ownBlobs });
  const files = await openFiles({
    ...{ database: embedded, dataDir, quotaBytes: options.fileQuotaBytes ?? GIB, now },
  });
  return {
    ...{ kv, cache, tables, documents, vectors, search, queue, blobs, files, sql, ownBlobs },
    ...{ embedded, retrieval, pool, redis },
    close: async (): Promise<void> => {
      for (const close of closing.toReversed()) await close();
    },
  };
}
