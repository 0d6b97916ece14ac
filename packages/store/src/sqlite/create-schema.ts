import { readFileSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { additionsAfter, type Schema, versionOf } from '../schema.ts';

const EMPTY = 0;

export const SCHEMA: Schema = {
  first: 190_706_803,
  additions: [
    'create index feed_by_kind on feed (tenant, kind, number)',
    'alter table workflows add column registered_by text',
    `alter table keys add column workspace text not null default 'default'`,
  ],
};

/** Creates the tables of an empty database, or adds what older data lacks. Data of another version is refused. */
export function createSchema(database: DatabaseSync, dataDir: string): void {
  const found = Number(database.prepare('pragma user_version').get()?.user_version);
  const statements =
    found === EMPTY
      ? [readFileSync(`${import.meta.dirname}/schema.sql`, 'utf8')]
      : additionsAfter(found, SCHEMA, dataDir);
  if (statements.length === 0) return;
  // If a statement fails, closing the connection rolls back all of them
  const all = [...statements, `pragma user_version = ${versionOf(SCHEMA)}`];
  database.exec(`begin immediate; ${all.join(';\n')}; commit`);
}
