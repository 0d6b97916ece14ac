/**
 * A server as a data source. Each query is a read-only transaction of its own that is rolled back; reads and writes
 * have sessions of their own, so that neither keeps the other waiting.
 */
import type { DataObject } from '../calls/data.ts';
import type { SqlBackend, SqlDialect, SqlLimits, SqlStatement } from '../ports/sql.ts';
import { type Access, type Session, Sessions } from './sessions.ts';
import { inOrder, tried, watched } from './transaction.ts';

export interface SqlSession extends Session {
  begin(): Promise<void>;
  read(statement: SqlStatement): Promise<DataObject[]>;
  /** How many rows it changed, if it is a statement on rows. */
  write(statement: SqlStatement): Promise<number>;
  commit(): Promise<void>;
}

export interface SqlServer {
  readonly dialect: SqlDialect;
  /** `PostgreSQL` */
  readonly name: string;
  readonly limits: SqlLimits;
  open(access: Access): SqlSession;
  /** What the server reports, in the words of the catalogue. */
  explain(error: unknown, limits: SqlLimits): unknown;
  /** Selects as `what` each right of the user that reaches beyond the database. */
  readonly rights: string;
  /** Whether a definition is part of its transaction, or commits it. */
  readonly definitions: 'transactional' | 'committing';
}

const plain = (sql: string): SqlStatement => ({ kind: 'rows', pieces: [sql], gaps: [], values: [] });

export function serverBackend(server: SqlServer): SqlBackend {
  const { dialect, name, limits, rights, definitions } = server;
  const readers = new Sessions(() => server.open('read only'));
  const writers = new Sessions(() => server.open('read write'));
  const use = <T>(sessions: typeof readers, tenant: string, work: (session: SqlSession) => Promise<T>) =>
    sessions
      .use(tenant, async (session) => {
        await session.begin();
        return work(session);
      })
      .catch((error) => Promise.reject(server.explain(error, limits)));
  const read = (statement: SqlStatement, tenant: string) =>
    use(readers, tenant, (session) => session.read(statement));
  const transact = (statements: readonly SqlStatement[], tenant: string) =>
    watched(name, (progress) =>
      // It has begun: a server that is away is told apart from one that was lost meanwhile
      use(writers, tenant, async (session) => {
        const counts = await inOrder(statements, limits, async (statement) => {
          const isDefinition = statement.kind === 'definition';
          if (isDefinition && definitions === 'committing') progress.phase = 'committing';
          const count = await session.write(statement);
          return isDefinition ? 0 : count;
        });
        progress.phase = 'committing';
        await session.commit();
        return counts;
      }),
    );
  return {
    dialect,
    journal: 'host',
    query: (statement, { tenant }) => read(statement, tenant),
    execute: (statements, { tenant }) => tried(() => transact(statements, tenant)),
    health: async () => void (await read(plain('select 1'), '')),
    dangerousRights: async () => (await read(plain(rights), '')).map(({ what }) => String(what)),
    close: async () => void (await Promise.all([readers.close(), writers.close()])),
  };
}
