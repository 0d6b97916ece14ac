/** Brings a database to the newest schema. Each migration and its version number are one transaction. */
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../error.ts';
import type { Migration } from '../migration.ts';
import { createFile, createFolder } from './files.ts';

export interface MigrateOptions {
  readonly dataDir: string;
  readonly migrations: readonly Migration[];
  readonly now: Date;
}

export function migrate(database: DatabaseSync, { dataDir, migrations, now }: MigrateOptions): void {
  const from = versionOf(database);
  const newest = migrations.at(-1)?.version ?? 0;
  if (from > newest) {
    throw new StoreError(
      'data_newer',
      `The data in ${dataDir} has schema version ${from}; this Gantry knows versions up to ${newest}.`,
    );
  }
  if (from > 0 && from < newest) backUp(database, dataDir, from, now);
  for (const migration of migrations) if (migration.version > from) apply(database, migration);
}

export function versionOf(database: DatabaseSync): number {
  return Number(database.prepare('pragma user_version').get()?.user_version);
}

function apply(database: DatabaseSync, { version, sql }: Migration): void {
  database.exec('begin immediate');
  try {
    database.exec(sql);
    database.exec(`pragma user_version = ${version}`);
    database.exec('commit');
  } catch (error) {
    if (database.isTransaction) database.exec('rollback');
    throw error;
  }
}

function backUp(database: DatabaseSync, dataDir: string, from: number, now: Date): void {
  const folder = join(dataDir, 'backups');
  createFolder(folder);
  const path = join(folder, `gantry-${from}-${now.toISOString().replaceAll(/[:.]/g, '-')}.db`);
  createFile(path);
  database.prepare('vacuum into ?').run(path);
}
