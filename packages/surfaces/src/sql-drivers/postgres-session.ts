/** One session with PostgreSQL. */
import { connect, type Socket } from 'node:net';
import postgres from 'postgres';
import type { DataObject } from '../data.ts';
import { inTime } from '../deadline.ts';
import type { SqlLimits, SqlStatement } from '../ports/sql.ts';
import { silent, tooMany } from './errors.ts';
import { metered } from './meter.ts';
import { NAME } from './postgres-errors.ts';
import { dataOf, TYPES, textOf } from './postgres-values.ts';
import type { SqlSession } from './server.ts';
import { type Access, type ServerOptions, SILENCE_MS } from './sessions.ts';
import { rowBytes } from './size.ts';

const CONNECT_TIMEOUT_S = 5;
const BATCH = 500;
/** Else the driver sends a statement without parameters by the simple protocol, which takes several at once. */
const EXTENDED = { simple: false, prepare: false };

export class PostgresSession implements SqlSession {
  readonly #sql: postgres.Sql;
  readonly #limits: SqlLimits;
  readonly #access: Access;
  #socket: Socket | null = null;
  #isOpen = true;
  #attempts = 0;

  constructor({ url, limits }: ServerOptions, access: Access) {
    this.#limits = limits;
    this.#access = access;
    // Not in the types of the driver
    const connecting = { socket: (address: Address) => this.#connect(address) };
    this.#sql = postgres(url, {
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
      },
    });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** [m] PostgreSQL takes a read-only transaction back to writing only before its first query. */
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
    return this.#answered(metered(this.#socket, this.#limits, rows, over));
  }

  /** How many rows it changed. */
  async write(statement: SqlStatement): Promise<number> {
    return (await this.#answered(this.#ask(statement))).count ?? 0;
  }

  /** [m] 0.3 ms for DISCARD ALL, as long as the shortest query; prepared statements go too, so none are kept. */
  async renew(): Promise<void> {
    await Promise.all([this.#send('rollback'), this.#send('discard all')]);
  }

  /** Below the driver: its own way writes a farewell, which throws when TLS was cut ([m] an error that nobody hears). */
  end(): void {
    this.#isOpen = false;
    this.#socket?.destroy();
  }

  #connect({ host, port, path }: Address): Socket {
    this.#mustBeOpen();
    const at = this.#attempts++ % host.length;
    const socket = path ? connect(path) : connect(port[at]!, host[at]);
    this.#socket = socket;
    // The driver asks for the name when it checks a certificate
    return Object.assign(socket.setNoDelay(true), { host: host[at] });
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

  /** The driver would connect anew, and send what is left of a transaction to a session that has none. */
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

interface Address {
  readonly host: readonly string[];
  readonly port: readonly number[];
  readonly path: string | false;
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

/** On every batch, though the driver's types do not say so. */
const columnsOf = (batch: object): readonly { readonly name: string; readonly type: number }[] =>
  'columns' in batch ? (batch.columns as []) : [];
