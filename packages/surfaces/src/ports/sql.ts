/**
 * One SQL database, as a data source of nodes. Statements have been checked before they get here.
 *
 * I1  A query changes nothing: the database itself enforces it, whatever the statement is.
 * I2  `execute` commits all of its statements or none. Committed changes are on disk when it is answered.
 * I3  Rows, bytes and time are limited. A call that exceeds a limit is refused as a whole with
 *     `sql_transaction_aborted`.
 * I4  Values read back as they were written, on every driver: see `SqlValue`.
 * I5  An unreachable database answers `storage_unavailable` in bounded time, and is used again when it is
 *     back. If the answer to a commit was lost, and there is no record of it, the code is `effect_in_doubt`.
 * I6  With `journal: 'own'`, one invocation acts once and always gets the same answer; another call with its
 *     id is refused.
 */
import type { DataObject } from '../calls/data.ts';
import type { PortRead, PortWrite } from '../calls/surface-call.ts';

export type SqlDialect = 'sqlite' | 'postgres' | 'mysql';

/**
 * A number reads as a number if that prints the same digits, else as text: integers beyond 2^53, long
 * decimals. Timestamps with a zone are ISO 8601 in UTC, without one the same without Z; dates are
 * `2026-01-31`. A column declared boolean reads as boolean. JSON columns read as text on SQLite and MariaDB,
 * which store them as text.
 */
export type SqlValue = null | boolean | number | string | Uint8Array;

export interface SqlStatement {
  readonly kind: 'rows' | 'definition';
  /** The text around the parameters: one more piece than gaps. */
  readonly pieces: readonly string[];
  /** For each gap, the index of its value. */
  readonly gaps: readonly number[];
  readonly values: readonly SqlValue[];
}

export interface SqlBackend {
  readonly dialect: SqlDialect;
  /** `own`: in the transaction of the write. `host`: nothing is written into a database of the user. */
  readonly journal: 'own' | 'host';
  query(statement: SqlStatement, call: PortRead): Promise<DataObject[]>;
  /** Rows affected by each statement. */
  execute(statements: readonly SqlStatement[], call: PortWrite): Promise<number[]>;
  /** Rejects with `storage_unavailable`. */
  health(): Promise<void>;
  /** Rights of the data source's user beyond its database: `is a superuser`. */
  dangerousRights(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface SqlLimits {
  readonly rowsMax: number;
  readonly bytesMax: number;
  readonly timeoutMs: number;
}

export const SQL_LIMITS: SqlLimits = { rowsMax: 10_000, bytesMax: 8_388_608, timeoutMs: 5_000 };

/** Why a transaction was cancelled; nothing was committed. */
export type SqlAbort =
  | 'rows'
  | 'bytes'
  | 'timeout'
  | 'constraint'
  | 'data'
  | 'conflict'
  | 'space'
  | 'database';
