/** A server as a data source. A query is a read-only transaction; reads and writes have separate sessions. */
import type { DataObject } from '../calls/data.ts';
import { stopwatch } from '../deadline.ts';
import type { SqlBackend, SqlDialect, SqlLimits, SqlStatement } from '../ports/sql.ts';
import { inDoubt, isRefusal, late } from './errors.ts';
import { type Access, type Session, Sessions } from './sessions.ts';

export interface SqlSession extends Session {
  begin(): Promise<void>;
  read(statement: SqlStatement): Promise<DataObject[]>;
  /** Answers the number of changed rows, for statements on rows. */
  write(statement: SqlStatement): Promise<number>;
  commit(): Promise<void>;
}

interface SqlServer {
  readonly dialect: SqlDialect;
  readonly name: string;
  readonly limits: SqlLimits;
  open(access: Access): SqlSession;
  /** Maps an error of the server to the catalogue. */
  explain(error: unknown, limits: SqlLimits): unknown;
  /** Selects, as `what`, each right of the user that reaches beyond the database. */
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
      // The session has begun: a server lost from here on differs from an unreachable one
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

/** The known state of a transaction on a server when an error occurs. */
interface Progress {
  phase: 'working' | 'committing';
}

/** If the server is lost before the commit, nothing was kept; during it, the outcome is unknown. */
export async function watched<T>(name: string, run: (progress: Progress) => Promise<T>): Promise<T> {
  const progress: Progress = { phase: 'working' };
  try {
    return await run(progress);
  } catch (error) {
    const isLost = isRefusal(error) && error.code === 'storage_unavailable';
    throw isLost && progress.phase === 'committing' ? inDoubt(name, error) : error;
  }
}

/**
 * Runs statements in order; errors have the index of theirs. Servers limit each statement; this limits the total time.
 */
export async function inOrder<S, T>(
  statements: readonly S[],
  limits: SqlLimits,
  run: (statement: S) => Promise<T>,
): Promise<T[]> {
  const isOver = stopwatch(limits.timeoutMs);
  const results: T[] = [];
  for (const [operation, statement] of statements.entries()) {
    if (isOver()) throw late(limits);
    const result = run(statement).catch((error) => Promise.reject(Object.assign(error, { operation })));
    results.push(await result);
  }
  return results;
}

const TRIES_MAX = 3;

/** Retries a transaction that lost a conflict. */
export async function tried<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const gaveWay = isRefusal(error) && error.details?.reason === 'conflict';
      if (!gaveWay || attempt === TRIES_MAX) throw error;
    }
  }
}
