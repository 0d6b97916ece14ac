import type { Store } from './port.ts';
import type { PostgresStoreOptions } from './postgres/open.ts';

export { CommitPipeline, isLarge, isOfContent } from './commit-pipeline.ts';
export { entryKey, storedEntry, versionAfter } from './entry.ts';
export { StoreError, type WriteOutcome } from './error.ts';
export { keepThread, takeThread } from './kept-threads.ts';
export { writePidFile } from './pid-file.ts';
export * from './port.ts';
export { connectS3, readS3Address, type S3Address, type S3Connection } from './s3.ts';
export { openSqlite } from './sqlite/open.ts';

/** Loads the driver on first use: only users of PostgreSQL need it. */
export const openPostgres = async (options: PostgresStoreOptions): Promise<Store> =>
  (await import('./postgres/open.ts')).openPostgres(options);
