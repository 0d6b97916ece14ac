/** Messages between the host and the processes that run SQLite. No imports: processes start fast. */
import type { NumberedCall } from '../calls/surface-call.ts';
import type { SqlLimits, SqlStatement, SqlValue } from '../ports/sql.ts';

export type SqliteFile =
  /** A file of the host: created on first use, limited in size, with a journal inside. */
  | { readonly owner: 'host'; readonly path: string; readonly bytesMax: number }
  /** A file of the operator: it must exist, and the host adds nothing to it. */
  | { readonly owner: 'operator'; readonly path: string };

export interface SqliteTable {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly isBoolean: boolean }[];
  readonly rows: readonly (readonly SqlValue[])[];
}

/** Answers are counts, which need no sealing. */
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
    /** On a temporary database in memory. */
    | { readonly kind: 'tables'; readonly tables: readonly SqliteTable[]; readonly statement: SqlStatement }
    | { readonly kind: 'health'; readonly file: SqliteFile }
  );
