/**
 * A PostgreSQL for tests: the one at `GANTRY_TEST_POSTGRES_URL`, else a private server of this process from the
 * npm package that carries it or from this machine. Each call gets a database of its own.
 */
import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { findBinaries } from './postgres-binaries.ts';
import { startServer } from './postgres-process.ts';

export type FreshDatabase = { url: string; drop(): Promise<void> } | { skip: string };

type Server = { adminUrl: string } | { skip: string };
let server: Promise<Server> | null = null;

/** With `CI=true` a missing server is an error, so that it cannot go unnoticed. */
export async function postgresServer(): Promise<Server> {
  server ??= findServer();
  const found = await server;
  if ('skip' in found && process.env.CI === 'true')
    throw new Error(`No PostgreSQL for the tests: ${found.skip}`);
  return found;
}

export async function freshDatabase(): Promise<FreshDatabase> {
  const found = await postgresServer();
  if ('skip' in found) return found;
  const name = `gantry_test_${randomBytes(6).toString('hex')}`;
  await administer(found.adminUrl, `create database ${name}`);
  const url = new URL(found.adminUrl);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => administer(found.adminUrl, `drop database ${name} with (force)`) };
}

async function findServer(): Promise<Server> {
  const adminUrl = process.env.GANTRY_TEST_POSTGRES_URL;
  if (adminUrl) return { adminUrl };
  const binaries = await findBinaries();
  if ('skip' in binaries) return binaries;
  return { adminUrl: await startServer(binaries) };
}

export async function administer(url: string, statement: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    await sql.unsafe(statement);
  } finally {
    await sql.end();
  }
}

/** Every row of every table, as text, by the name of its table. */
export async function everyRow(url: string): Promise<Record<string, string>> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    const tables = await sql`
      select table_schema as schema, table_name as name from information_schema.tables
      where table_schema not in ('pg_catalog', 'information_schema')`;
    const texts: Record<string, string> = {};
    for (const { schema, name } of tables)
      texts[name] = JSON.stringify(await sql`select t::text from ${sql(schema)}.${sql(name)} t`);
    return texts;
  } finally {
    await sql.end();
  }
}
