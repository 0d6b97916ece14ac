import type { DatabaseSync } from 'node:sqlite';
import { checkVersion, readSchema } from '../schema.ts';

const EMPTY = 0;

/** Creates the tables of an empty database. A database with another schema is refused. */
export function createSchema(database: DatabaseSync, dataDir: string): void {
  const schema = readSchema(`${import.meta.dirname}/schema.sql`);
  const found = Number(database.prepare('pragma user_version').get()?.user_version);
  // If a statement fails, closing the connection rolls back all of them
  if (found === EMPTY)
    database.exec(`begin immediate; ${schema.sql}; pragma user_version = ${schema.version}; commit`);
  else checkVersion(found, schema, dataDir);
}
