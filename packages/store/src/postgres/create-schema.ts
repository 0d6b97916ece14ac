import { readFileSync } from 'node:fs';
import { additionsAfter, type Schema, versionOf } from '../schema.ts';
import type { Sql } from './sql.ts';

/** Any number that nothing else uses for an advisory lock. */
const LOCK_KEY = 7_070_418_001;

export const SCHEMA: Schema = {
  first: 198_773_509,
  additions: [
    'create index feed_by_kind on feed (tenant, kind, number)',
    'alter table workflows add column registered_by text collate "C"',
    `alter table keys add column workspace text collate "C" not null default 'default'`,
  ],
};

/**
 * Creates the tables of an empty database, or adds what older data lacks, in one of several processes. Data of another
 * version is refused.
 */
export async function createSchema(sql: Sql, address: string): Promise<void> {
  await sql.unhurried(async (tx) => {
    await tx`select pg_advisory_xact_lock(${LOCK_KEY}::bigint)`;
    await tx`create table if not exists gantry_schema (version integer not null)`;
    const [found] = await tx<{ version: number }[]>`select version from gantry_schema`;
    const statements = found
      ? additionsAfter(found.version, SCHEMA, `the database at ${address}`)
      : [readFileSync(`${import.meta.dirname}/schema.sql`, 'utf8')];
    for (const statement of statements) await tx.unsafe(statement);
    const version = versionOf(SCHEMA);
    if (!found) await tx`insert into gantry_schema (version) values (${version})`;
    else if (statements.length > 0) await tx`update gantry_schema set version = ${version}`;
  });
}
