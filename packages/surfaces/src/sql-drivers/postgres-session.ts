import type { Duplex } from 'node:stream';
import { loginOptions, type PostgresServer, Wire } from '@gantry/postgres';
import postgres from 'postgres';
import type { DataObject } from '../calls/data.ts';
import { inTime } from '../deadline.ts';
import type { SqlLimits, SqlStatement } from '../ports/sql.ts';
import { silent, tooMany } from './errors.ts';
import { NAME } from './postgres-errors.ts';
import { dataOf, TYPES, textOf } from './postgres-values.ts';
import type { SqlSession } from './server.ts';
import { type Access, SILENCE_MS } from './sessions.ts';
import { metered, rowBytes } from './size.ts';

const CONNECT_TIMEOUT_S = 5;
const BATCH = 500;
/** Otherwise the driver uses the simple protocol for a statement without parameters, which accepts several at once. */
const EXTENDED = { simple: false, prepare: false };

export interface PostgresOptions {
  readonly server: PostgresServer;
  readonly limits: SqlLimits;
}

export class PostgresSession implements SqlSession {
  readonly #sql: postgres.Sql;
  readonly #limits: SqlLimits;
  readonly #access: Access;
  readonly #wire: Wire;
  #isOpen = true;

  constructor({ server, limits }: PostgresOptions, access: Access) {
    this.#limits = limits;
    this.#access = access;
    this.#wire = new Wire({ place: server.place, timeoutMs: CONNECT_TIMEOUT_S * 1_000 });
    // Missing in the types of the driver
    const connecting = { socket: () => this.#connect() };
    this.#sql = postgres({
      ...loginOptions(server),
      max: 1,
      connect_timeout: CONNECT_TIMEOUT_S,
      idle_timeout: undefined,
      max_lifetime: null,
      fetch_types: false,
      onnotice: () => {},
      types: TYPES,
      onclose: () => {
        this.#isOpen = false;
      },
      ...connecting,
      connection: {
        application_name: 'gantry',
        TimeZone: 'UTC',
        DateStyle: 'ISO',
        bytea_output: 'hex',
        standard_conforming_strings: 'on',
        statement_timeout: limits.timeoutMs,
        idle_in_transaction_session_timeout: limits.timeoutMs + SILENCE_MS,
        ...(access === 'read only' && { default_transaction_read_only: true }),
        ...server.parameters,
      },
    });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Tested: PostgreSQL allows changing a read-only transaction to writing only before its first query. */
  async begin(): Promise<void> {
    const { timeoutMs } = this.#limits;
    const timeouts = `set local statement_timeout = ${timeoutMs}; set local lock_timeout = ${timeoutMs}`;
    await this.#answered(this.#send(`begin ${this.#access === 'read only' ? 'read only' : ''}; ${timeouts}`));
  }

  async commit(): Promise<void> {
    await this.#answered(this.#send('commit'));
  }

  read(statement: SqlStatement): Promise<DataObject[]> {
    const rows = rowsOf(this.#ask(statement), this.#limits);
    const over = (): Error => {
      this.end();
      return tooMany('bytes', this.#limits);
    };
    return this.#answered(metered(this.#wire.tcp, this.#limits, rows, over));
  }

  async write(statement: SqlStatement): Promise<number> {
    return (await this.#answered(this.#ask(statement))).count ?? 0;
  }

  /**
   * Measured: 0.3 ms for DISCARD ALL, as long as the shortest query. It also drops prepared statements, so
   * none are used.
   */
  async renew(): Promise<void> {
    await Promise.all([this.#send('rollback'), this.#send('discard all')]);
  }

  /** Bypasses the driver, which would send a terminate message and throw an unhandled error after TLS was cut. */
  end(): void {
    this.#isOpen = false;
    this.#wire.cut();
  }

  async #connect(): Promise<Duplex> {
    this.#mustBeOpen();
    const socket = await this.#wire.connect();
    return socket.on('close', () => {
      this.#isOpen = false;
    });
  }

  #ask({ pieces, gaps, values }: SqlStatement) {
    const text = pieces.reduce((before, piece, index) => `${before}$${gaps[index - 1]! + 1}${piece}`);
    this.#mustBeOpen();
    return this.#sql.unsafe(text, values.map(textOf), EXTENDED);
  }

  #send(text: string) {
    this.#mustBeOpen();
    return this.#sql.unsafe(text);
  }

  /** The driver would reconnect, and send the rest of a transaction to a session without one. */
  #mustBeOpen(): void {
    if (!this.#isOpen) throw silent(NAME);
  }

  #answered<T>(work: Promise<T>): Promise<T> {
    return inTime(this.#limits.timeoutMs + SILENCE_MS, work, () => {
      this.end();
      return silent(NAME);
    });
  }
}

async function rowsOf(asked: ReturnType<postgres.Sql['unsafe']>, limits: SqlLimits): Promise<DataObject[]> {
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

/** Present on every batch, but missing in the driver's types. */
const columnsOf = (batch: object): readonly { readonly name: string; readonly type: number }[] =>
  'columns' in batch ? (batch.columns as []) : [];
