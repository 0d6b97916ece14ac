import { checkVersion, readSchema } from '../schema.ts';
import type { Sql } from './sql.ts';

/** Any number that nothing else uses for an advisory lock. */
const LOCK_KEY = 7_070_418_001;

/** Creates the tables of an empty database, in one of several processes. A database with another schema is refused. */
export async function createSchema(sql: Sql, address: string): Promise<void> {
  const schema = readSchema(`${import.meta.dirname}/schema.sql`);
  await sql.unhurried(async (tx) => {
    await tx`select pg_advisory_xact_lock(${LOCK_KEY}::bigint)`;
    await tx`create table if not exists gantry_schema (version integer not null)`;
    const [found] = await tx<{ version: number }[]>`select version from gantry_schema`;
    if (found) return checkVersion(found.version, schema, `the database at ${address}`);
    await tx.unsafe(schema.sql);
    await tx`insert into gantry_schema (version) values (${schema.version})`;
  });
}
