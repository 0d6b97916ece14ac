/** What MySQL and MariaDB report, in the words of the catalogue. */
import { OpenwopError } from '@gantry/protocol';
import type { SqlLimits } from '../ports/sql.ts';
import { aborted, isRefusal, late, said, unavailable } from './errors.ts';

export const NAME = 'MySQL';

/** Too many connections, wrong password, no such database, shutting down, killed. */
const UNREACHABLE = new Set([1040, 1045, 1049, 1053, 1130, 1203, 1698, 1927]);
const NO_RIGHT = new Set([1044, 1142, 1143, 1227, 1370]);
const READ_ONLY = 1792;
const TIMED_OUT = new Set([1317, 1969, 3024]);
const GAVE_WAY = new Set([1205, 1213]);
const FULL = new Set([1021, 1114]);
const WRONG_VALUE = 1292;

interface Reported {
  readonly errno?: number;
  readonly sqlState?: string;
  readonly code?: string;
  readonly operation?: number;
}

export function explain(error: unknown, limits: SqlLimits): unknown {
  if (isRefusal(error) || !(error instanceof Error) || !('code' in error || 'errno' in error)) return error;
  const { errno = 0, sqlState = '', code = '', operation } = error as Error & Reported;
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

/** The text that the server did not take for a time. */
export function refusedTime(error: unknown): string | null {
  if (!(error instanceof Error) || (error as Error & Reported).errno !== WRONG_VALUE) return null;
  return /^(?:Incorrect|Truncated incorrect) \w+ value: '([^']*)'/.exec(error.message)?.[1] ?? null;
}
