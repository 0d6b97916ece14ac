export {
  type EmbeddedBlobs,
  type EmbeddedBlobsOptions,
  type LinkOptions,
  openEmbeddedBlobs,
} from './blob/embedded-blobs.ts';
export { LINK_ROOT } from './blob/link.ts';
export { openBlobs } from './blob/open-blobs.ts';
export type { PresignedAnswer, PresignedRequest } from './blob/serve-presigned.ts';
export { DEFAULT_BUCKETS, implementBlobs } from './blob/surface.ts';
export { openCache } from './cache/open-cache.ts';
export { implementCache } from './cache/surface.ts';
export type { CallJournal, CallRecord, JournaledCall } from './call-journal.ts';
export { type Cursors, createCursors } from './cursor.ts';
export type { Data, DataObject } from './data.ts';
export * from './define-surface.ts';
export { openDocuments } from './documents/open-documents.ts';
export { openRetrievalDatabase, type RetrievalDatabase } from './embedded/database.ts';
export { type FilesOptions, openFiles } from './files/open-files.ts';
export { type Converter, NO_CONVERTER, openConverter } from './fs/convert/converter.ts';
export { implementFs } from './fs/surface.ts';
export { openKv } from './kv/open-kv.ts';
export { implementKv } from './kv/surface.ts';
export type { CallIo, CallReport, NodeCalls } from './node-calls.ts';
export { implementNosql, NOSQL_LIMITS, type NosqlDatasource } from './nosql/surface.ts';
export type { OpenedPort } from './open-port.ts';
export {
  type BackendSettings,
  type OpenedSurfaces,
  openSurfaces,
  type SurfacesOptions,
} from './open-surfaces.ts';
export type * from './ports/blobs.ts';
export type * from './ports/cache.ts';
export type * from './ports/documents.ts';
export type * from './ports/files.ts';
export type * from './ports/kv.ts';
export type * from './ports/queue.ts';
export type * from './ports/search.ts';
export type * from './ports/sql.ts';
export type * from './ports/vectors.ts';
export { createPostgresPool, type PostgresDatabase, type PostgresPool } from './postgres/connection.ts';
export { type SweepTimes, sweepPostgres } from './postgres/sweep.ts';
export { deliveryTokens } from './queue/delivery-token.ts';
export { type OpenQueueDeps, openQueue } from './queue/open-queue.ts';
export { implementQueue } from './queue/surface.ts';
export { createRedisPool, type RedisPool } from './redis/pool.ts';
export { type OpenSearchDeps, openSearch } from './search/open-search.ts';
export { implementSearch, SEARCH_LIMITS } from './search/surface.ts';
export { type OpenedSql, openSql } from './sql/open.ts';
export type * from './surface-call.ts';
export { createSurfaceDesk, type SurfaceDesk, type SurfaceDeskOptions } from './surface-desk.ts';
export { implementTable, TABLE_LIMITS } from './table/surface.ts';
export { type OpenVectorsDeps, openVectors } from './vector/open-vectors.ts';
export { implementVectors, VECTOR_LIMITS } from './vector/surface.ts';
