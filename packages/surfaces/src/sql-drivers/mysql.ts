/**
 * MySQL and MariaDB as a data source. Each query is a read-only transaction of its own that is rolled back; reads and
 * writes have sessions of their own, so that neither keeps the other waiting. Statements are prepared by the server,
 * which takes one at a time and keeps values apart from it.
 */
import { OpenwopError } from '@gantry/protocol';
import type { SqlBackend, SqlStatement } from '../ports/sql.ts';
import { explain, NAME } from './mysql-errors.ts';
import { MysqlSession } from './mysql-session.ts';
import { connectionOf } from './mysql-settings.ts';
import { type ServerOptions, Sessions } from './sessions.ts';
import { inOrder, type Progress, tried, watched } from './transaction.ts';

const ALIVE: SqlStatement = { kind: 'rows', pieces: ['select 1'], gaps: [], values: [] };

/** Throws when the address is not one of MySQL. */
export function mysqlBackend(options: ServerOptions): SqlBackend {
  const { url, limits } = options;
  connectionOf(url);
  const readers = new Sessions(() => new MysqlSession(options, 'read only'));
  const writers = new Sessions(() => new MysqlSession(options, 'read write'));
  const use = <T>(sessions: typeof readers, tenant: string, work: (session: MysqlSession) => Promise<T>) =>
    sessions.use(tenant, work).catch((error) => Promise.reject(explain(error, limits)));
  const read = (statement: SqlStatement, tenant: string) =>
    use(readers, tenant, async (session) => {
      await session.begin();
      return session.read(statement);
    });
  const transact = (statements: readonly SqlStatement[], tenant: string) =>
    watched(NAME, (progress) =>
      use(writers, tenant, (session) => {
        const [first] = statements;
        return first?.kind === 'definition'
          ? define(session, first, progress)
          : writeAll(session, statements, { progress, limits });
      }),
    );
  return {
    dialect: 'mysql',
    journal: 'host',
    query: (statement, { tenant }) => read(statement, tenant),
    async execute(statements, { tenant }) {
      checkDefinitions(statements);
      return tried(() => transact(statements, tenant));
    },
    health: async () => void (await read(ALIVE, '')),
    close: async () => void (await Promise.all([readers.close(), writers.close()])),
  };
}

/** It commits by itself. Beginning first tells a server that is away from one that was lost meanwhile. */
async function define(session: MysqlSession, statement: SqlStatement, progress: Progress): Promise<number[]> {
  await session.begin();
  progress.phase = 'committing';
  await session.write(statement);
  return [0];
}

async function writeAll(
  session: MysqlSession,
  statements: readonly SqlStatement[],
  { progress, limits }: { readonly progress: Progress } & Pick<ServerOptions, 'limits'>,
): Promise<number[]> {
  await session.begin();
  const counts = await inOrder(statements, limits, (statement) => session.write(statement));
  progress.phase = 'committing';
  await session.command('commit');
  return counts;
}

/** They would commit what came before them. */
function checkDefinitions(statements: readonly SqlStatement[]): void {
  if (statements.length < 2 || statements.every(({ kind }) => kind === 'rows')) return;
  throw new OpenwopError('validation_error', {
    message: 'MySQL cannot undo CREATE, ALTER, DROP and TRUNCATE; send them alone with ctx.db.sql.execute.',
  });
}
