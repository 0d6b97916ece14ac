/** What travels between the host and the processes that run SQLite. Loads nothing: processes start fast. */
import type { NumberedCall } from '../calls/surface-call.ts';
import type { SqlLimits, SqlStatement, SqlValue } from '../ports/sql.ts';

export type SqliteFile =
  /** Ours: made when first used, bounded in size, with a journal inside. */
  | { readonly owner: 'host'; readonly path: string; readonly bytesMax: number }
  /** The operator's: it must be there, and nothing is put into it. */
  | { readonly owner: 'operator'; readonly path: string };

export interface SqliteTable {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly isBoolean: boolean }[];
  readonly rows: readonly (readonly SqlValue[])[];
}

/** Answers are counts, which need no seal. */
export interface Journaled {
  readonly call: Pick<NumberedCall, 'id' | 'method' | 'fingerprint'>;
  readonly now: number;
  readonly forgetBefore: number;
}

interface Bounded {
  readonly limits: SqlLimits;
}

export type SqliteJob = Bounded &
  (
    | { readonly kind: 'query'; readonly file: SqliteFile; readonly statement: SqlStatement }
    | {
        readonly kind: 'execute';
        readonly file: SqliteFile;
        readonly statements: readonly SqlStatement[];
        readonly journaled: Journaled | null;
      }
    /** On a database in memory that is gone afterwards. */
    | { readonly kind: 'tables'; readonly tables: readonly SqliteTable[]; readonly statement: SqlStatement }
    | { readonly kind: 'health'; readonly file: SqliteFile }
  );
