/** Database files of embedded surfaces. They are separate from the run log, so that neither waits for the other. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createForOwner } from '../create-for-owner.ts';

export const databasePath = (dataDir: string, name = 'surfaces.db'): string => join(dataDir, name);

export interface FileFacts {
  readonly path: string;
  /** A file of `schema/`. */
  readonly schema: 'surfaces' | 'retrieval' | 'search';
  readonly pageBytes: number;
  /** Per connection. */
  readonly cacheKib: number;
  readonly readBigInts: boolean;
  /** SQLite extensions to load first. */
  readonly extensions: readonly string[];
}

/** For all files. Increment it with every change of a file in `schema/`. */
export const SCHEMA_VERSION = 10;
const BUSY_TIMEOUT_MS = 5_000;
/** The size that the log file is cut to after a checkpoint. */
export const LOG_BYTES_MAX = 67_108_864;

/** A write is on disk before it is answered. */
export function openForWriting(file: FileFacts): DatabaseSync {
  createForOwner(file.path);
  const database = connect(file);
  database.exec(`
    pragma page_size = ${file.pageBytes};
    pragma journal_mode = wal;
    pragma synchronous = full;
    pragma journal_size_limit = ${LOG_BYTES_MAX};
    pragma cache_size = -${file.cacheKib};
  `);
  createSchema(database, file);
  return database;
}

export function openForReading(file: FileFacts): DatabaseSync {
  const database = connect(file);
  database.exec(`pragma query_only = on; pragma cache_size = -${file.cacheKib};`);
  return database;
}

function connect({ path, extensions, readBigInts }: FileFacts): DatabaseSync {
  const database = new DatabaseSync(path, {
    timeout: BUSY_TIMEOUT_MS,
    enableForeignKeyConstraints: false,
    allowExtension: extensions.length > 0,
    readBigInts,
  });
  for (const extension of extensions) database.loadExtension(extension);
  if (extensions.length > 0) database.enableLoadExtension(false);
  return database;
}

/** If two processes start at once, one of them creates it. */
function createSchema(database: DatabaseSync, { path, schema }: FileFacts): void {
  if (versionOf(database) === SCHEMA_VERSION) return;
  database.exec('begin immediate');
  try {
    if (versionOf(database) === 0) {
      for (const name of ['journal', schema])
        database.exec(readFileSync(join(import.meta.dirname, 'schema', `${name}.sql`), 'utf8'));
      database.exec(`pragma user_version = ${SCHEMA_VERSION}`);
    }
    if (versionOf(database) !== SCHEMA_VERSION)
      throw new Error(
        `${path} has schema version ${versionOf(database)}, and this version of Gantry uses ${SCHEMA_VERSION}; there is ` +
          'no upgrade before the first release, so start the version that wrote it or use an empty data folder.',
      );
    database.exec('commit');
  } catch (error) {
    if (database.isTransaction) database.exec('rollback');
    throw error;
  }
}

export const versionOf = (database: DatabaseSync): number =>
  Number(database.prepare('pragma user_version').get()?.user_version);
