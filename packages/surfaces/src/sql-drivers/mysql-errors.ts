/** What MySQL and MariaDB report, in the words of the catalogue. */
import { OpenwopError } from '@gantry/protocol';
import type { SqlLimits } from '../ports/sql.ts';
import { aborted, isRefusal, late, NO_DATABASE, refused, said, unavailable, WRONG_LOGIN } from './errors.ts';

export const NAME = 'MySQL';

/** Too many connections, shutting down, killed. */
const UNREACHABLE = new Set([1040, 1053, 1203, 1927]);
/** While connecting; a statement may name a missing database too. */
const REFUSALS: Readonly<Record<number, string>> = {
  1045: WRONG_LOGIN,
  1049: NO_DATABASE,
  1130: 'refuses connections from here. Let this machine in, or correct the file of data sources.',
  1698: WRONG_LOGIN,
};
const NO_RIGHT = new Set([1044, 1045, 1142, 1143, 1227, 1370]);
const READ_ONLY = 1792;
const TIMED_OUT = new Set([1317, 1969, 3024]);
const GAVE_WAY = new Set([1205, 1213]);
const FULL = new Set([1021, 1114]);
const WRONG_VALUE = 1292;
const UNKNOWN_SETTING = 1193;

interface Reported {
  readonly errno?: number;
  readonly sqlState?: string;
  readonly code?: string;
  /** The statement, if there was one. */
  readonly sql?: string;
  readonly operation?: number;
}

export function explain(error: unknown, limits: SqlLimits): unknown {
  if (isRefusal(error) || !(error instanceof Error) || !('code' in error || 'errno' in error)) return error;
  const { errno = 0, sqlState = '', code = '', sql, operation } = error as Error & Reported;
  const refusal = sql === undefined ? REFUSALS[errno] : undefined;
  if (refusal !== undefined) return refused(NAME, error, refusal);
  if (sqlState === '' || UNREACHABLE.has(errno)) return unavailable(NAME, error, code || String(errno));
  const message = said(NAME, error.message);
  const details = operation === undefined ? {} : { operation };
  if (errno === READ_ONLY)
    return new OpenwopError('validation_error', { message: `${message}. Use ctx.db.sql.execute to write.` });
  if (NO_RIGHT.has(errno)) return new OpenwopError('datasource_access_denied', { message });
  if (TIMED_OUT.has(errno)) return late(limits);
  if (GAVE_WAY.has(errno)) return aborted('conflict', message, details);
  if (FULL.has(errno)) return aborted('space', message, details);
  if (sqlState.startsWith('23')) return aborted('constraint', message, details);
  if (sqlState.startsWith('22')) return aborted('data', message, details);
  if (sqlState.startsWith('42')) return new OpenwopError('sql_syntax_error', { message, details });
  return aborted('database', message, details);
}

const hasErrno = (error: unknown, errno: number): error is Error =>
  error instanceof Error && (error as Error & Reported).errno === errno;

export const isUnknownSetting = (error: unknown): boolean => hasErrno(error, UNKNOWN_SETTING);

/** The text that the server did not take for a time. */
export function refusedTime(error: unknown): string | null {
  if (!hasErrno(error, WRONG_VALUE)) return null;
  return /^(?:Incorrect|Truncated incorrect) \w+ value: '([^']*)'/.exec(error.message)?.[1] ?? null;
}
