/** PostgreSQL as it runs outside tests: every commit is synced, and can be made slower. */
import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { findBinaries } from '../packages/store/src/testing/postgres-binaries.ts';
import { startServer } from '../packages/store/src/testing/postgres-process.ts';

export interface PostgresServer {
  freshDatabase(): Promise<{ readonly url: string; drop(): Promise<void> }>;
}

/** The server ends with this process. It adds `commitMs` to the sync that commits share, as a slower disk would. */
export async function openPostgresServer(commitMs: number): Promise<PostgresServer> {
  const binaries = await findBinaries();
  if ('skip' in binaries) throw new Error(binaries.skip);
  const slow = commitMs === 0 ? [] : [`commit_delay=${commitMs * 1000}`, 'commit_siblings=0'];
  const adminUrl = await startServer(binaries, undefined, slow);
  const administer = async (statement: string): Promise<void> => {
    const sql = postgres(adminUrl, { max: 1, onnotice: () => {} });
    await sql.unsafe(statement);
    await sql.end();
  };
  return {
    async freshDatabase() {
      const name = `bench_${randomBytes(6).toString('hex')}`;
      await administer(`create database ${name}`);
      const url = new URL(adminUrl);
      url.pathname = `/${name}`;
      return { url: url.href, drop: () => administer(`drop database ${name} with (force)`) };
    },
  };
}
