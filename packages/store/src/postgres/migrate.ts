/** Brings the database to the newest schema; several processes may start at once, one of them does it. */

import { StoreError } from '../error.ts';
import { readMigrations } from '../migration.ts';
import type { Sql } from './sql.ts';

/** Any number that no one else uses for an advisory lock. */
const LOCK_KEY = 7_070_418_001;

export async function migrate(sql: Sql, address: string): Promise<void> {
  const migrations = readMigrations(`${import.meta.dirname}/migrations`);
  const newest = migrations.at(-1)?.version ?? 0;
  await sql.unhurried(async (tx) => {
    await tx`select pg_advisory_xact_lock(${LOCK_KEY}::bigint)`;
    await tx`create table if not exists gantry_schema (version integer not null)`;
    const [found] = await tx<{ version: number }[]>`select version from gantry_schema`;
    const from = found?.version ?? 0;
    if (from > newest) {
      throw new StoreError(
        'data_newer',
        `The database at ${address} has schema version ${from}; this Gantry knows versions up to ${newest}.`,
      );
    }
    if (from === newest) return;
    for (const migration of migrations) if (migration.version > from) await tx.unsafe(migration.sql);
    await tx`delete from gantry_schema`;
    await tx`insert into gantry_schema (version) values (${newest})`;
  });
}
