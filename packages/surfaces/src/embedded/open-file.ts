/** Database files of embedded surfaces, apart from the run log so that neither waits for the other. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createForOwner } from '../create-for-owner.ts';

export const databasePath = (dataDir: string, name = 'surfaces.db'): string => join(dataDir, name);

export interface FileFacts {
  readonly path: string;
  /** A folder beside this file. */
  readonly migrations: string;
  readonly pageBytes: number;
  /** Of each connection. */
  readonly cacheKib: number;
  readonly readBigInts: boolean;
  /** Of SQLite, to be loaded first. */
  readonly extensions: readonly string[];
}

const BUSY_TIMEOUT_MS = 5_000;
/** What the log keeps on the disk when all that it holds is in the database. */
export const LOG_BYTES_MAX = 67_108_864;

/** A write is on the disk when it is answered. */
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
  migrate(database, file);
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

/** Each migration and its number are one transaction; two processes that start at once do it once. */
function migrate(database: DatabaseSync, { path, migrations }: FileFacts): void {
  const folder = join(import.meta.dirname, migrations);
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort();
  const newest = Number.parseInt(files.at(-1) ?? '0', 10);
  if (versionOf(database) > newest) {
    throw new Error(
      `The data in ${path} has schema version ${versionOf(database)}; this Gantry knows versions up to ${newest}. ` +
        'Start the Gantry version that wrote it or a newer one.',
    );
  }
  for (const file of files) apply(database, Number.parseInt(file, 10), join(folder, file));
}

export const versionOf = (database: DatabaseSync): number =>
  Number(database.prepare('pragma user_version').get()?.user_version);

function apply(database: DatabaseSync, version: number, file: string): void {
  database.exec('begin immediate');
  try {
    if (versionOf(database) < version) {
      database.exec(readFileSync(file, 'utf8'));
      database.exec(`pragma user_version = ${version}`);
    }
    database.exec('commit');
  } catch (error) {
    if (database.isTransaction) database.exec('rollback');
    throw error;
  }
}
