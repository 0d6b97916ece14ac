import { connect, type Socket } from 'node:net';
import { type Connection, createConnection } from 'mysql2';
import type { DataObject } from '../calls/data.ts';
import { inTime } from '../deadline.ts';
import type { SqlLimits, SqlStatement, SqlValue } from '../ports/sql.ts';
import { silent, tooMany } from './errors.ts';
import { isUnknownSetting, NAME, NotBegun, refusedTime } from './mysql-errors.ts';
import { connectionOf, settingsOf } from './mysql-settings.ts';
import { dataOf, type Field, isZoned, parameterOf, withoutZone } from './mysql-values.ts';
import type { SqlSession } from './server.ts';
import { type Access, type ServerOptions, SILENCE_MS } from './sessions.ts';
import { metered, rowBytes } from './size.ts';

const PREPARED_MAX = 16;
const CONNECT_TIMEOUT_MS = 5_000;

interface Outcome {
  readonly rows: DataObject[];
  readonly affected: number;
}

export class MysqlSession implements SqlSession {
  readonly #connection: Connection;
  readonly #socket: Socket;
  readonly #limits: SqlLimits;
  readonly #access: Access;
  readonly #asksForTls: boolean;
  #isOpen = true;
  #isSet = false;

  constructor({ url, limits }: ServerOptions, access: Access) {
    this.#limits = limits;
    this.#access = access;
    const { host, port, ...account } = connectionOf(url);
    this.#asksForTls = 'ssl' in account;
    this.#socket = connect(port, host).setNoDelay(true);
    this.#connection = createConnection({
      ...account,
      host,
      port,
      stream: this.#socket,
      connectTimeout: CONNECT_TIMEOUT_MS,
      maxPreparedStatements: PREPARED_MAX,
      multipleStatements: false,
      flags: ['-LOCAL_FILES'],
      supportBigNumbers: true,
      dateStrings: true,
      jsonStrings: true,
      charset: 'utf8mb4',
      // Otherwise the driver generates code with column names in it, and some names break it
      disableEval: true,
    });
    // Pending requests get the error themselves
    this.#connection.on('error', () => this.end());
    this.#socket.on('close', () => this.end());
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  async begin(): Promise<void> {
    try {
      if (!this.#isSet) await this.#set();
      await this.#command(`start transaction ${this.#access}`);
    } catch (error) {
      throw new NotBegun(error, { asksForTls: this.#asksForTls });
    }
  }

  commit(): Promise<void> {
    return this.#command('commit');
  }

  async read(statement: SqlStatement): Promise<DataObject[]> {
    return (await this.#run(statement)).rows;
  }

  /** A time with Z is first sent as text, since the column may be text; if refused, it is sent in MySQL's format. */
  async write(statement: SqlStatement): Promise<number> {
    try {
      return (await this.#run(statement)).affected;
    } catch (error) {
      const refused = refusedTime(error);
      const isRefused = (value: SqlValue) => isZoned(value) && value === refused;
      if (!statement.values.some(isRefused)) throw error;
      const values = statement.values.map((value) =>
        isZoned(value) && isRefused(value) ? withoutZone(value) : value,
      );
      return this.write({ ...statement, values });
    }
  }

  #command(sql: string): Promise<void> {
    return this.#answered((resolve, reject) =>
      this.#connection.query(sql, (error) => (error ? reject(error) : resolve())),
    );
  }

  /** Also resets settings, so they are set again. Measured: 0.3 ms, and as much for each of four settings. */
  async renew(): Promise<void> {
    this.#isSet = false;
    await this.#answered<void>((resolve, reject) =>
      this.#connection.reset((error) => (error ? reject(error) : resolve())),
    );
    await this.#set();
  }

  end(): void {
    this.#isOpen = false;
    this.#connection.destroy();
    this.#socket.destroy();
  }

  async #set(): Promise<void> {
    for (const { sql, isNeeded } of settingsOf(this.#limits, this.#access))
      await this.#command(sql).catch((error) => {
        if (isNeeded || !isUnknownSetting(error)) throw error;
      });
    this.#isSet = true;
  }

  /** Row by row, so that an unlimited result is not collected first. */
  #run({ pieces, gaps, values }: SqlStatement): Promise<Outcome> {
    const parameters = gaps.map((gap) => parameterOf(values[gap]!));
    const limits = this.#limits;
    const running = this.#answered<Outcome>((resolve, reject) => {
      const options = { sql: pieces.join('?'), rowsAsArray: true };
      const command = this.#connection.execute(options, parameters as never);
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
        if (rows.length === limits.rowsMax) reject(this.#over('rows'));
        else if (bytes > limits.bytesMax) reject(this.#over('bytes'));
        else rows.push(Object.fromEntries(entries));
      });
      command.on('error', reject);
      command.on('end', () => resolve({ rows, affected }));
    });
    return metered(this.#socket, limits, running, () => this.#over('bytes'));
  }

  /** More rows would arrive, so the session cannot be used again. */
  #over(reason: 'rows' | 'bytes'): Error {
    this.end();
    return tooMany(reason, this.#limits);
  }

  #answered<T>(work: (resolve: (value: T) => void, reject: (error: unknown) => void) => void): Promise<T> {
    if (!this.#isOpen) return Promise.reject(silent(NAME));
    return inTime(this.#limits.timeoutMs + SILENCE_MS, new Promise<T>(work), () => {
      this.end();
      return silent(NAME);
    });
  }
}
