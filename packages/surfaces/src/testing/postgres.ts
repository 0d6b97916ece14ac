/** PostgreSQL databases for tests, or the reason why there are none. */
import { freshDatabase, postgresServer } from '../../../store/src/testing/postgres-server.ts';
import { openPostgresDatabase, type PostgresDatabase } from '../postgres/connection.ts';

const server = await postgresServer();

export const postgresSkip: string | false = 'skip' in server ? server.skip : false;

export interface OpenedPostgres {
  readonly database: PostgresDatabase;
  readonly url: string;
  /** Drops it. */
  close(): Promise<void>;
}

/** A database of its own. */
export async function openTestPostgres(): Promise<OpenedPostgres> {
  const found = await freshDatabase();
  if ('skip' in found) throw new Error(found.skip);
  const database = openPostgresDatabase({ url: found.url });
  return {
    database,
    url: found.url,
    async close() {
      await database.close();
      await found.drop();
    },
  };
}
