/**
 * PostgreSQL as a data source. Reads and writes have pools of their own: connections of the first begin every
 * transaction read-only. Each statement goes by the extended protocol, which takes one statement and keeps values
 * apart from it.
 */
import { OpenwopError } from '@gantry/protocol';
import postgres from 'postgres';
import type { DataObject } from '../data.ts';
import type { SqlBackend, SqlLimits, SqlStatement } from '../ports/sql.ts';
import { aborted, isRefusal, late, said, tooMany, unavailable, within } from './errors.ts';
import { dataOf, TYPES, textOf } from './postgres-values.ts';
import { rowBytes } from './size.ts';
import { silent, tried, watched } from './transaction.ts';

export interface ServerOptions {
  readonly url: string;
  readonly limits: SqlLimits;
}

const CONNECTIONS_MAX = 4;
const CONNECT_TIMEOUT_S = 5;
const IDLE_TIMEOUT_S = 60;
const BATCH = 500;
/** The server has its own timeout; this is for one that went silent. */
const SILENCE_MS = 2_000;
const NAME = 'PostgreSQL';
const PREPARED_MAX = 256;
/** Else the driver sends a statement without parameters by the simple protocol, which takes several at once. */
const EXTENDED = { simple: false };

export function postgresBackend(options: ServerOptions): SqlBackend {
  const { limits } = options;
  const readers = new Pool(options, { isReadOnly: true });
  const writers = new Pool(options, { isReadOnly: false });
  return {
    dialect: 'postgres',
    journal: 'host',
    query: (statement) => readers.use(limits, (sql) => read(readers.ask(sql, statement), limits)),
    execute: (statements) => tried(() => transact(writers, statements, limits)),
    health: () => readers.use(limits, async (sql) => void (await sql`select 1`)),
    close: async () => void (await Promise.all([readers.close(), writers.close()])),
  };
}

/** Connects anew by itself. One that went silent is replaced, so that its connections are not waited for. */
class Pool {
  readonly #connect: () => postgres.Sql;
  readonly #prepared = new Set<string>();
  #sql: postgres.Sql;

  constructor({ url, limits }: ServerOptions, { isReadOnly }: { readonly isReadOnly: boolean }) {
    this.#connect = () =>
      postgres(url, {
        ...{ max: CONNECTIONS_MAX, connect_timeout: CONNECT_TIMEOUT_S, idle_timeout: IDLE_TIMEOUT_S },
        ...{ fetch_types: false, onnotice: () => {}, types: TYPES },
        connection: {
          ...{ application_name: 'gantry', TimeZone: 'UTC', DateStyle: 'ISO', bytea_output: 'hex' },
          ...{ standard_conforming_strings: 'on', statement_timeout: limits.timeoutMs },
          idle_in_transaction_session_timeout: limits.timeoutMs + SILENCE_MS,
          ...(isReadOnly && { default_transaction_read_only: true }),
        },
      });
    this.#sql = this.#connect();
  }

  async use<T>(
    limits: SqlLimits,
    work: (sql: postgres.Sql) => Promise<T>,
    onSilence = () => silent(NAME),
  ): Promise<T> {
    const sql = this.#sql;
    const replace = (): Error => {
      if (this.#sql === sql) this.#sql = this.#connect();
      void sql.end({ timeout: 0 });
      return onSilence();
    };
    try {
      return await within(limits.timeoutMs + SILENCE_MS, work(sql), replace);
    } catch (error) {
      throw explain(error, limits);
    }
  }

  /** The driver never forgets a prepared statement, so only so many different ones are kept by the server. */
  ask(sql: postgres.Sql | postgres.TransactionSql, { pieces, gaps, values }: SqlStatement) {
    const text = pieces.reduce((before, piece, index) => `${before}$${gaps[index - 1]! + 1}${piece}`);
    if (this.#prepared.size < PREPARED_MAX) this.#prepared.add(text);
    return sql.unsafe(text, values.map(textOf), { ...EXTENDED, prepare: this.#prepared.has(text) });
  }

  close(): Promise<void> {
    return this.#sql.end({ timeout: 0 });
  }
}

async function read(asked: ReturnType<Pool['ask']>, limits: SqlLimits): Promise<DataObject[]> {
  const rows: DataObject[] = [];
  let bytes = 0;
  for await (const batch of asked.raw().cursor(BATCH)) {
    const columns = columnsOf(batch);
    for (const row of batch as (Buffer | null)[][]) {
      const entries = columns.map(({ name, type }, index) => [name, dataOf(row[index]!, type)] as const);
      bytes += rowBytes(entries);
      if (rows.length === limits.rowsMax) throw tooMany('rows', limits);
      if (bytes > limits.bytesMax) throw tooMany('bytes', limits);
      rows.push(Object.fromEntries(entries));
    }
  }
  return rows;
}

/** On every batch, though the driver's types do not say so. */
const columnsOf = (batch: object): readonly { readonly name: string; readonly type: number }[] =>
  'columns' in batch ? (batch.columns as []) : [];

const transact = (pool: Pool, statements: readonly SqlStatement[], limits: SqlLimits): Promise<number[]> =>
  watched(NAME, (progress, onSilence) => {
    const work = (sql: postgres.Sql) =>
      sql.begin(async (tx) => {
        const counts = await inOrder(pool, tx, statements);
        if (progress.phase === 'given up') throw silent(NAME);
        progress.phase = 'committing';
        return counts;
      });
    return pool.use(limits, work, onSilence);
  });

async function inOrder(
  pool: Pool,
  tx: postgres.TransactionSql,
  statements: readonly SqlStatement[],
): Promise<number[]> {
  const counts: number[] = [];
  for (const [operation, statement] of statements.entries()) {
    const { count } = await pool.ask(tx, statement).catch((error) => {
      throw Object.assign(error, { operation });
    });
    counts.push(statement.kind === 'rows' ? (count ?? 0) : 0);
  }
  return counts;
}

const READ_ONLY = '25006';
const NO_RIGHT = '42501';
const CANCELLED = '57014';
const SQLSTATE = /^[0-9A-Z]{5}$/;

function explain(error: unknown, limits: SqlLimits): unknown {
  if (isRefusal(error) || !(error instanceof Error) || !('code' in error)) return error;
  const code = String(error.code);
  const message = said(NAME, error.message);
  const details = 'operation' in error ? { operation: Number(error.operation) } : {};
  if (!SQLSTATE.test(code) || /^(?:08|28|3D|53|57P|58|XX)/.test(code)) return unavailable(NAME, error, code);
  if (code === READ_ONLY)
    return new OpenwopError('validation_error', { message: `${message}. Use ctx.db.sql.execute to write.` });
  if (code === NO_RIGHT) return new OpenwopError('datasource_access_denied', { message });
  if (code === CANCELLED) return late(limits);
  if (code.startsWith('40') || code === '55P03') return aborted('conflict', message, details);
  if (code.startsWith('23')) return aborted('constraint', message, details);
  if (code.startsWith('22')) return aborted('data', message, details);
  if (/^(?:42|0A|54)/.test(code)) return new OpenwopError('sql_syntax_error', { message, details });
  return aborted('database', message, details);
}
