/** Maps errors of SQLite to the catalogue. */
import type { ErrorCode, JsonObject } from '@gantry/protocol';
import type { SqlAbort } from '../ports/sql.ts';
import { type Answer, failure } from '../refusal.ts';

const REASONS: Readonly<Record<number, SqlAbort>> = {
  7: 'bytes',
  13: 'space',
  18: 'bytes',
  19: 'constraint',
  20: 'data',
};
const [READONLY, AUTH, ERROR, RANGE] = [8, 23, 1, 25];
/** Permanent faults of a file: no permission, damaged, cannot be opened, not a database. */
const UNUSABLE: Readonly<Record<number, string>> = {
  3: 'The operator must check its permissions.',
  11: 'The operator must restore an intact one.',
  14: 'The operator must check its permissions and those of its folder.',
  26: 'The operator must restore an intact one.',
};

export function sqliteFailure(error: unknown): Answer {
  if (!(error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'))
    return failure(error);
  const primary = error.errcode & 0xff;
  const operation = 'operation' in error ? { operation: Number(error.operation) } : {};
  const refused = (code: ErrorCode, details: JsonObject = {}): Answer => ({
    kind: 'refused',
    code,
    message: `SQLite: ${error.message}.`,
    details: { ...details, ...operation },
  });
  const unusable = UNUSABLE[primary];
  if (unusable !== undefined) {
    const message = `cannot use its database file (${error.message}). ${unusable}`;
    return { kind: 'refused', code: 'storage_unavailable', message, details: {} };
  }
  const reason = REASONS[primary];
  if (reason) return refused('sql_transaction_aborted', { reason });
  if (primary === READONLY) return refused('validation_error');
  if (primary === AUTH) return refused('datasource_access_denied');
  if (primary === ERROR || primary === RANGE) return refused('sql_syntax_error');
  return { kind: 'unavailable', reason: error.message };
}
