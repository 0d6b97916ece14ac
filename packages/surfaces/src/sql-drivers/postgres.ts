/**
 * PostgreSQL as a data source. Each query is a read-only transaction of its own that is rolled back; reads and writes
 * have sessions of their own, so that neither keeps the other waiting. Each statement goes by the extended protocol,
 * which takes one statement and keeps values apart from it.
 */
import type { SqlBackend, SqlStatement } from '../ports/sql.ts';
import { explain, NAME } from './postgres-errors.ts';
import { PostgresSession } from './postgres-session.ts';
import { type ServerOptions, Sessions } from './sessions.ts';
import { inOrder, tried, watched } from './transaction.ts';

const ALIVE: SqlStatement = { kind: 'rows', pieces: ['select 1'], gaps: [], values: [] };

export function postgresBackend(options: ServerOptions): SqlBackend {
  const { limits } = options;
  const readers = new Sessions(() => new PostgresSession(options, 'read only'));
  const writers = new Sessions(() => new PostgresSession(options, 'read write'));
  const use = <T>(sessions: typeof readers, tenant: string, work: (session: PostgresSession) => Promise<T>) =>
    sessions.use(tenant, work).catch((error) => Promise.reject(explain(error, limits)));
  const read = (statement: SqlStatement, tenant: string) =>
    use(readers, tenant, async (session) => {
      await session.begin();
      return session.read(statement);
    });
  const transact = (statements: readonly SqlStatement[], tenant: string) =>
    watched(NAME, (progress) =>
      use(writers, tenant, async (session) => {
        await session.begin();
        const counts = await inOrder(statements, limits, (statement) => session.write(statement));
        progress.phase = 'committing';
        await session.commit();
        return counts;
      }),
    );
  return {
    dialect: 'postgres',
    journal: 'host',
    query: (statement, { tenant }) => read(statement, tenant),
    execute: (statements, { tenant }) => tried(() => transact(statements, tenant)),
    health: async () => void (await read(ALIVE, '')),
    close: async () => void (await Promise.all([readers.close(), writers.close()])),
  };
}
