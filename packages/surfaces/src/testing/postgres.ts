/** A PostgreSQL database for the tests of one file, or the reason why there is none. */
import { freshDatabase } from '../../../store/src/testing/postgres-server.ts';
import { openPostgresDatabase, type PostgresDatabase } from '../postgres/connection.ts';

const found = await freshDatabase();

export const postgresSkip: string | false = 'skip' in found ? found.skip : false;

export interface OpenedPostgres {
  readonly database: PostgresDatabase;
  readonly url: string;
  /** Drops it: once in a file, at its end. */
  close(): Promise<void>;
}

export async function openTestPostgres(): Promise<OpenedPostgres> {
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
