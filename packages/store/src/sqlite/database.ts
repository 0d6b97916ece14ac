import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createFile } from './files.ts';

export const databasePath = (dataDir: string): string => join(dataDir, 'gantry.db');

const BUSY_TIMEOUT_MS = 5_000;

/**
 * A commit is on disk when it returns (I3). A checkpoint runs every 16 MB of log, since each costs two syncs. CPU
 * time of the writer thread for a run of three nodes at 32 and 128 connections, by page size: 4 KiB 50 and 34
 * microseconds, 8 KiB 45 and 32, 16 KiB 52 and 33.
 */
export function openForWriting(dataDir: string): DatabaseSync {
  const path = databasePath(dataDir);
  createFile(path);
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: false });
  database.exec(`
    pragma page_size = 8192;
    pragma journal_mode = wal;
    pragma synchronous = full;
    pragma wal_autocheckpoint = 2000;
    pragma journal_size_limit = 67108864;
    pragma cache_size = -65536;
  `);
  return database;
}

export function openForReading(dataDir: string): DatabaseSync {
  const database = new DatabaseSync(databasePath(dataDir), { timeout: BUSY_TIMEOUT_MS });
  database.exec('pragma query_only = on; pragma cache_size = -32768;');
  return database;
}
