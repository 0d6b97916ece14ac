/** What the user in the URL must be allowed to do, and what is said when it is not. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, type TestContext, test } from 'node:test';
import postgres from 'postgres';
import { freshDatabase } from '../../../store/src/testing/postgres-server.ts';
import { matchesGolden } from '../testing/golden.ts';
import { openTestPostgres, postgresSkip } from '../testing/postgres.ts';
import { openPostgresDatabase, type Sql } from './connection.ts';
import { SCHEMA_VERSION } from './create-schema.ts';

const found = await freshDatabase();

describe('the rights of the user', { skip: 'skip' in found && found.skip }, () => {
  const name = `app_${randomBytes(4).toString('hex')}`;
  const url = 'url' in found ? found.url : 'postgres://db/none';
  const database = new URL(url).pathname.slice(1);
  const admin = postgres(url, { max: 1, onnotice: () => {} });
  before(async () => {
    await admin.unsafe(
      `create role ${name} login password 'hush'; revoke all on database ${database} from public`,
    );
  });
  after(async () => {
    await admin.unsafe(`drop owned by ${name} cascade; drop role ${name}`);
    await admin.end();
    if ('drop' in found) await found.drop();
  });

  function health(t: TestContext): Promise<void> {
    const opened = openPostgresDatabase({
      url: Object.assign(new URL(url), { username: name, password: 'hush' }).href,
    });
    t.after(opened.close);
    return opened.health();
  }

  test('CONNECT always, CREATE for the first start alone', async (t) => {
    await assert.rejects(health(t), {
      message: /does not let the user connect to the database\. Grant it CONNECT/,
    });
    await admin.unsafe(`grant connect on database ${database} to ${name}`);
    await assert.rejects(health(t), {
      message: /Grant it CREATE on the database if there is no such schema yet/,
    });
    await admin.unsafe(`grant create on database ${database} to ${name}`);
    await health(t);
    await admin.unsafe(`revoke create on database ${database} from ${name}`);
    await health(t);
  });

  test('a schema that somebody made for it will do', async (t) => {
    await admin.unsafe(
      `drop schema gantry_surfaces cascade; create schema gantry_surfaces authorization ${name}`,
    );
    await health(t);
  });
});

/** Tables, constraints, indexes, functions and triggers, as the catalogue prints them. */
const dump = (sql: Sql): Promise<readonly { text: string }[]> => sql<{ text: string }[]>`
  select text from (
    select 1 as part, table_name || '.' || lpad(ordinal_position::text, 2, '0') as name,
      concat_ws(' ', table_name || '.' || column_name, data_type, 'collate ' || collation_name,
        case is_nullable when 'NO' then 'not null' end, 'default ' || column_default) as text
    from information_schema.columns where table_schema = 'gantry_surfaces'
    union all
    select 2, conrelid::regclass || ' ' || conname, conrelid::regclass || ' ' || pg_get_constraintdef(oid)
    from pg_constraint where connamespace = 'gantry_surfaces'::regnamespace and contype <> 'n'
    union all
    select 3, indexname, indexdef from pg_indexes where schemaname = 'gantry_surfaces'
    union all
    select 4, proname, pg_get_functiondef(oid) from pg_proc where pronamespace = 'gantry_surfaces'::regnamespace
    union all
    select 5, tgname, pg_get_triggerdef(t.oid) from pg_trigger t join pg_class c on c.oid = tgrelid
    where relnamespace = 'gantry_surfaces'::regnamespace and not tgisinternal
  ) as parts order by part, name collate "C"
`;

describe('the schema', { skip: postgresSkip }, () => {
  test('equals its golden dump, and another version is refused', async (t) => {
    const { database, url, close } = await openTestPostgres();
    t.after(close);
    const rows = await database.read(dump);
    const text = rows.map((row) => `${row.text.trimEnd()}\n`).join('');
    matchesGolden('postgres.sql', `-- Schema version ${SCHEMA_VERSION}\n${text}`);
    for (const version of [1, SCHEMA_VERSION - 1, SCHEMA_VERSION + 1]) {
      await database.upkeep((tx) => tx`update schema_version set version = ${version}`);
      const other = openPostgresDatabase({ url });
      t.after(other.close);
      await assert.rejects(other.health(), {
        message: new RegExp(
          `has surfaces with schema version ${version}, and this version of Gantry uses ${SCHEMA_VERSION}; there is no upgrade before`,
        ),
      });
    }
  });
});
