export { CommitPipeline, isLarge } from './commit-pipeline.ts';
export { entryKey, storedEntry, versionAfter } from './entry.ts';
export { StoreError, type WriteOutcome } from './error.ts';
export { writePidFile } from './pid-file.ts';
export * from './port.ts';
export { openPostgres } from './postgres/open.ts';
export { connectS3, readS3Address, type S3Address, type S3Connection } from './s3.ts';
export { openSqlite } from './sqlite/open.ts';
