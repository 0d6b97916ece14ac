/**
 * MySQL and MariaDB as a data source. Reads and writes have pools of their own: sessions of the first are read-only.
 * Statements are prepared by the server, which takes one at a time and keeps values apart from it.
 */
import { OpenwopError } from '@gantry/protocol';
import { createPool, type Pool, type PoolConnection } from 'mysql2';
import type { DataObject } from '../data.ts';
import type { SqlBackend, SqlLimits, SqlStatement, SqlValue } from '../ports/sql.ts';
import { tooMany, within } from './errors.ts';
import { explain, refusedTime } from './mysql-errors.ts';
import { connectionOf, sessionOf } from './mysql-session.ts';
import { dataOf, type Field, isZoned, parameterOf, withoutZone } from './mysql-values.ts';
import type { ServerOptions } from './postgres.ts';
import { rowBytes } from './size.ts';
import { silent, tried, watched } from './transaction.ts';

const CONNECTIONS_MAX = 4;
const WAITING_MAX = 200;
const PREPARED_MAX = 128;
const CONNECT_TIMEOUT_MS = 5_000;
/** The server has its own timeout; this is for one that went silent. */
const SILENCE_MS = 2_000;
const NAME = 'MySQL';

export function mysqlBackend(options: ServerOptions): SqlBackend {
  const { limits } = options;
  const readers = open(options, { isReadOnly: true });
  const writers = open(options, { isReadOnly: false });
  const read = (statement: SqlStatement) =>
    using(readers, limits, (connection) => rowsOf(connection, statement, limits));
  return {
    dialect: 'mysql',
    journal: 'host',
    query: read,
    execute: (statements) => tried(() => transact(writers, statements, limits)),
    health: async () => void (await read({ kind: 'rows', pieces: ['select 1'], gaps: [], values: [] })),
    close: async () => void (await Promise.all([ended(readers), ended(writers)])),
  };
}

function open({ url, limits }: ServerOptions, session: { readonly isReadOnly: boolean }): Pool {
  const pool = createPool({
    ...connectionOf(url),
    ...{ connectionLimit: CONNECTIONS_MAX, queueLimit: WAITING_MAX, connectTimeout: CONNECT_TIMEOUT_MS },
    ...{ maxPreparedStatements: PREPARED_MAX, multipleStatements: false, flags: ['-LOCAL_FILES'] },
    ...{ supportBigNumbers: true, dateStrings: true, jsonStrings: true, charset: 'utf8mb4' },
  });
  pool.on('connection', (connection) => {
    for (const { sql, isNeeded } of sessionOf(limits, session))
      connection.query(sql, (error) => error && isNeeded && connection.destroy());
  });
  return pool;
}

const ended = (pool: Pool): Promise<void> => new Promise((resolve) => pool.end(() => resolve()));

/** A connection that failed, or of which more would come, is not used again. */
async function using<T>(
  pool: Pool,
  limits: SqlLimits,
  work: (connection: PoolConnection) => Promise<T>,
  onSilence = () => silent(NAME),
): Promise<T> {
  let connection: PoolConnection | null = null;
  let isLate = false;
  const working = async (): Promise<T> => {
    connection = await connect(pool);
    if (isLate) connection.destroy();
    const value = await work(connection);
    connection.release();
    return value;
  };
  try {
    return await within(limits.timeoutMs + SILENCE_MS, working(), onSilence);
  } catch (error) {
    isLate = true;
    leave(connection, error);
    throw explain(error, limits);
  }
}

/** What the server refused leaves the connection in order; after anything else nobody knows. */
function leave(connection: PoolConnection | null, error: unknown): void {
  const isInOrder = error instanceof Error && 'sqlState' in error && !('fatal' in error && error.fatal);
  if (!isInOrder) connection?.destroy();
  else connection?.query('rollback', (failed) => (failed ? connection.destroy() : connection.release()));
}

const connect = (pool: Pool): Promise<PoolConnection> =>
  new Promise((resolve, reject) => {
    pool.getConnection((error, connection) => (error ? reject(error) : resolve(connection)));
  });

interface Outcome {
  readonly rows: DataObject[];
  readonly affected: number;
}

/** Row by row, so that a result without end is not gathered first. */
function run(connection: PoolConnection, statement: SqlStatement, limits: SqlLimits): Promise<Outcome> {
  const { pieces, gaps, values } = statement;
  const parameters = gaps.map((gap) => parameterOf(values[gap]!));
  return new Promise((resolve, reject) => {
    const command = connection.execute({ sql: pieces.join('?'), rowsAsArray: true }, parameters as never);
    const rows: DataObject[] = [];
    let fields: readonly Field[] = [];
    let affected = 0;
    let bytes = 0;
    command.on('fields', (given: readonly Field[] | undefined) => {
      fields = given ?? [];
    });
    command.on('result', (row: unknown) => {
      if (!Array.isArray(row)) {
        affected = Number((row as { affectedRows?: number }).affectedRows ?? 0);
        return;
      }
      const entries = fields.map((field, index) => [field.name, dataOf(row[index], field)] as const);
      bytes += rowBytes(entries);
      if (rows.length === limits.rowsMax) reject(tooMany('rows', limits));
      else if (bytes > limits.bytesMax) reject(tooMany('bytes', limits));
      else rows.push(Object.fromEntries(entries));
    });
    command.on('error', reject);
    command.on('end', () => resolve({ rows, affected }));
  });
}

const rowsOf = async (connection: PoolConnection, statement: SqlStatement, limits: SqlLimits) =>
  (await run(connection, statement, limits)).rows;

/** A time with Z is sent as text first, since it may be meant for a text column, and as MySQL wants it if refused. */
async function affectedBy(
  connection: PoolConnection,
  statement: SqlStatement,
  limits: SqlLimits,
): Promise<number> {
  try {
    return (await run(connection, statement, limits)).affected;
  } catch (error) {
    const refused = refusedTime(error);
    const isRefused = (value: SqlValue) => isZoned(value) && value === refused;
    if (!statement.values.some(isRefused)) throw error;
    const values = statement.values.map((value) =>
      isZoned(value) && isRefused(value) ? withoutZone(value) : value,
    );
    return affectedBy(connection, { ...statement, values }, limits);
  }
}

const transact = (pool: Pool, statements: readonly SqlStatement[], limits: SqlLimits): Promise<number[]> =>
  watched(NAME, (progress, onSilence) => {
    checkDefinitions(statements);
    const work = async (connection: PoolConnection): Promise<number[]> => {
      const [first] = statements;
      if (first?.kind === 'definition') {
        progress.phase = 'committing';
        await affectedBy(connection, first, limits);
        return [0];
      }
      await command(connection, 'start transaction');
      const counts = await inOrder(connection, statements, limits);
      if (progress.phase === 'given up') throw silent(NAME);
      progress.phase = 'committing';
      await command(connection, 'commit');
      return counts;
    };
    return using(pool, limits, work, onSilence);
  });

async function inOrder(
  connection: PoolConnection,
  statements: readonly SqlStatement[],
  limits: SqlLimits,
): Promise<number[]> {
  const counts: number[] = [];
  for (const [operation, statement] of statements.entries()) {
    const affected = affectedBy(connection, statement, limits);
    counts.push(await affected.catch((error) => Promise.reject(Object.assign(error, { operation }))));
  }
  return counts;
}

/** They would commit what came before them. */
function checkDefinitions(statements: readonly SqlStatement[]): void {
  if (statements.length < 2 || statements.every(({ kind }) => kind === 'rows')) return;
  throw new OpenwopError('validation_error', {
    message: 'MySQL cannot undo CREATE, ALTER, DROP and TRUNCATE; send them alone with ctx.db.sql.execute.',
  });
}

const command = (connection: PoolConnection, sql: string): Promise<void> =>
  new Promise((resolve, reject) => connection.query(sql, (error) => (error ? reject(error) : resolve())));
