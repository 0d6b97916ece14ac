import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import postgres from 'postgres';
import { assertGolden } from '../testing/golden.ts';
import { freshDatabase } from '../testing/postgres-server.ts';
import { SCHEMA } from './create-schema.ts';
import { openPostgres } from './open.ts';

const database = await freshDatabase();
const older = await freshDatabase();
const skip = 'skip' in database ? database.skip : false;

const dumpSchema = async (sql: postgres.Sql): Promise<string> => {
  const rows = await sql<{ line: string }[]>`
    select line from (
      select 'column ' || c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
        || coalesce(' collate ' || nullif(l.collname, 'default'), '') || case when a.attnotnull then ' not null' else '' end
        || case when a.attidentity = 'a' then ' identity' else '' end
        || case when a.attstorage = 'e' then ' external' else '' end
        || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '') as line, c.relname || ' 0' as place, a.attnum
      from pg_attribute a
      join pg_class c on c.oid = a.attrelid and c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
      left join pg_collation l on l.oid = a.attcollation
      left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
      where a.attnum > 0
      union all
      select indexdef, tablename || ' 1 ' || indexname, 0 from pg_indexes where schemaname = 'public'
      union all
      select 'view ' || viewname || definition, viewname, 0 from pg_views where schemaname = 'public'
      union all
      select pg_get_functiondef(oid), proname, 0 from pg_proc where pronamespace = 'public'::regnamespace
    ) as lines
    order by place collate "C", attnum
  `;
  return rows.map((row) => `${row.line}\n`).join('');
};

test('a new database equals schema-postgres.txt; one of another version is refused', { skip }, async (t) => {
  assert.ok('url' in database);
  const sql = postgres(database.url, { max: 1 });
  t.after(async () => {
    await sql.end();
    await database.drop();
  });
  await (await openPostgres(database)).close();
  assertGolden('schema-postgres.txt', await dumpSchema(sql));
  for (const other of [5, 999]) {
    await sql`update gantry_schema set version = ${other}`;
    await assert.rejects(openPostgres(database), {
      code: 'schema_mismatch',
      message: new RegExp(
        `^GANTRY_DATABASE_URL: The data in the database at \\S+ has schema version ${other}, but this Gantry uses ` +
          'version \\d+\\. This version can only add to older data: start with an empty data folder or ',
      ),
    });
  }
});

test('data of the first version is kept and gets what was added since, by one of several processes', {
  skip,
}, async (t) => {
  assert.ok('url' in older);
  const sql = postgres(older.url, { max: 1 });
  t.after(async () => {
    await sql.end();
    await older.drop();
  });
  await sql.unsafe(readFileSync(`${import.meta.dirname}/../testing/schema-1.postgres.sql`, 'utf8'));
  await sql`create table gantry_schema (version integer not null)`;
  await sql`insert into gantry_schema (version) values (${SCHEMA.first})`;
  const entry = { kind: 'k', tenant: 't', id: 'i', version: 7, createdAt: 1, body: '{}' };
  await sql`insert into entries (kind, tenant, id, version, created_at, body) values ('k', 't', 'i', 7, 1, '{}')`;
  const stores = await Promise.all([1, 2, 3].map(() => openPostgres(older)));
  for (const store of stores) {
    assert.partialDeepStrictEqual(await store.entries.get(entry), entry);
    await store.close();
  }
  assertGolden('schema-postgres.txt', await dumpSchema(sql));
});
