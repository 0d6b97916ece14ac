/** Creates the schema. When several processes start at once, one of them creates it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { refused } from '../backend-errors.ts';
import type { Sql, Tx } from './connection.ts';

/** Increment it with every change of `schema.sql`. */
export const SCHEMA_VERSION = 13;
/** An arbitrary number that is used for no other advisory lock. */
const LOCK_KEY = 7_070_418_002;
/** The server's version number; older versions are no longer maintained. */
const VERSION_MIN = { number: 120_000, name: '12' };

export async function createSchema(sql: Sql, address: string): Promise<void> {
  await sql.begin(async (tx) => {
    const [server] = await tx<{ number: number; name: string }[]>`
      select current_setting('server_version_num')::integer as number, current_setting('server_version') as name,
        pg_advisory_xact_lock(${LOCK_KEY}::bigint)
    `;
    if (server && server.number < VERSION_MIN.number)
      throw unfit(address, `is version ${server.name}. Use ${VERSION_MIN.name} or newer.`);
    await makeOnce(tx);
    const [found] = await tx<{ version: number }[]>`select version from schema_version`;
    if (found?.version === SCHEMA_VERSION) return;
    if (found)
      throw unfit(
        address,
        `has surfaces with schema version ${found.version}, and this version of Gantry uses ${SCHEMA_VERSION}; there ` +
          'is no upgrade before the first release, so start the version that wrote them or drop the schema gantry_surfaces.',
      );
    await tx.unsafe(readFileSync(join(import.meta.dirname, 'schema.sql'), 'utf8'));
    await tx`insert into schema_version values (${SCHEMA_VERSION})`;
  });
}

/** Even `if not exists` requires the right to create, which a user should need only once. */
async function makeOnce(tx: Tx): Promise<void> {
  const [found] = await tx<{ hasSchema: boolean; hasTable: boolean }[]>`
    select to_regnamespace('gantry_surfaces') is not null as "hasSchema",
      to_regclass('gantry_surfaces.schema_version') is not null as "hasTable"
  `;
  if (!found?.hasSchema) await tx`create schema gantry_surfaces`;
  if (!found?.hasTable) await tx`create table gantry_surfaces.schema_version (version integer not null)`;
}

const unfit = (address: string, why: string) => refused(`PostgreSQL at ${address}`, why);
