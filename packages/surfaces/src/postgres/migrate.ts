/** Brings the schema to its newest version; several processes may start at once, one of them does it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { refused } from '../backend-errors.ts';
import type { Sql, Tx } from './connection.ts';

/** Any number that no one else uses for an advisory lock. */
const LOCK_KEY = 7_070_418_002;
/** As the server numbers it; older ones are not maintained any more. */
const VERSION_MIN = { number: 120_000, name: '12' };
const FOLDER = join(import.meta.dirname, 'migrations');

/** The files `0001-*.sql`, `0002-*.sql`, ... are one transaction. */
export async function migrate(sql: Sql, address: string): Promise<void> {
  const files = readdirSync(FOLDER)
    .filter((name) => name.endsWith('.sql'))
    .sort();
  const newest = Number.parseInt(files.at(-1) ?? '0', 10);
  await sql.begin(async (tx) => {
    const [server] = await tx<{ number: number; name: string }[]>`
      select current_setting('server_version_num')::integer as number, current_setting('server_version') as name,
        pg_advisory_xact_lock(${LOCK_KEY}::bigint)
    `;
    if (server && server.number < VERSION_MIN.number)
      throw unfit(address, `is version ${server.name}. Use ${VERSION_MIN.name} or newer.`);
    await makeOnce(tx);
    const [found] = await tx<{ version: number }[]>`select version from schema_version`;
    const from = found?.version ?? 0;
    if (from > newest) {
      throw unfit(
        address,
        `has surfaces with schema version ${from}; this Gantry knows versions up to ${newest}. ` +
          'Start the Gantry version that wrote them or a newer one.',
      );
    }
    if (from === newest) return;
    for (const file of files)
      if (Number.parseInt(file, 10) > from) await tx.unsafe(readFileSync(join(FOLDER, file), 'utf8'));
    await tx`delete from schema_version`;
    await tx`insert into schema_version values (${newest})`;
  });
}

/** Even `if not exists` asks for the right to create, which a user needs only once. */
async function makeOnce(tx: Tx): Promise<void> {
  const [found] = await tx<{ hasSchema: boolean; hasTable: boolean }[]>`
    select to_regnamespace('gantry_surfaces') is not null as "hasSchema",
      to_regclass('gantry_surfaces.schema_version') is not null as "hasTable"
  `;
  if (!found?.hasSchema) await tx`create schema gantry_surfaces`;
  if (!found?.hasTable) await tx`create table gantry_surfaces.schema_version (version integer not null)`;
}

const unfit = (address: string, why: string) => refused(`PostgreSQL at ${address}`, why);
