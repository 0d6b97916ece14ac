/** Maps errors of MySQL and MariaDB to the catalogue. */
import { OpenwopError } from '@gantry/protocol';
import { ofConnecting, perhapsTls, tlsFault } from '../backend-errors.ts';
import type { SqlLimits } from '../ports/sql.ts';
import { aborted, isRefusal, late, NO_DATABASE, refused, said, unavailable, WRONG_LOGIN } from './errors.ts';

export const NAME = 'MySQL';

/** Too many connections (in total, of this user), shutting down, hourly quota used up, killed. */
const UNREACHABLE = new Set([1040, 1053, 1203, 1226, 1927]);
const WITHOUT_TLS = 'asks for TLS. Add ?ssl-mode=verify_identity (or required) to the URL.';
const LOCKED =
  'has locked the account of the user. Unlock it, or name another user in the file of data sources.';
const OUT_OF_DATE =
  'says that the password of the user has expired. Give it a new one there, and in the file of data sources.';
/** For errors before the first statement; a statement may also name a missing database. */
const REFUSALS: Readonly<Record<number, string>> = {
  1044: 'does not allow the user to use that database. Grant it, or correct the file of data sources.',
  1045: WRONG_LOGIN,
  1049: NO_DATABASE,
  1129: 'blocks this machine after too many failed connections. Run FLUSH HOSTS there, and look at what failed.',
  1130: 'refuses connections from here. Allow this machine, or correct the file of data sources.',
  1698: WRONG_LOGIN,
  1820: OUT_OF_DATE,
  1862: OUT_OF_DATE,
  3118: LOCKED,
  3159: WITHOUT_TLS,
  4151: LOCKED,
};
/** MariaDB gives no more detail for a user that requires TLS. */
const LOGIN = 1045;
const OR_TLS =
  'rejected the user or the password, or asks for TLS. Correct them in the file of data sources, or add ' +
  '?ssl-mode=verify_identity to the URL.';
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
  readonly operation?: number;
}

/** An error before the first statement of a session. The server's message may name the user and the database. */
export class NotBegun extends Error {
  readonly asksForTls: boolean;
  constructor(cause: unknown, { asksForTls }: { readonly asksForTls: boolean }) {
    super('the session did not begin', { cause });
    this.asksForTls = asksForTls;
  }
}

/** Never caused by a statement, whatever the server reports. */
function explainOpening({ cause: error, asksForTls }: NotBegun): unknown {
  if (isRefusal(error) || !isReported(error)) return error;
  const { errno = 0, sqlState = '', code = '' } = error;
  const refusal = tlsFault(error) ?? REFUSALS[errno];
  if (errno === LOGIN && !asksForTls) return refused(NAME, error, OR_TLS);
  if (refusal !== undefined) return refused(NAME, error, refusal);
  const name = code || String(errno);
  if (sqlState === '' || UNREACHABLE.has(errno))
    return unavailable(NAME, error, perhapsTls(ofConnecting(error, name)));
  return refused(NAME, error, `rejected the connection (${name}). See its log.`);
}

const isReported = (error: unknown): error is Error & Reported =>
  error instanceof Error && ('code' in error || 'errno' in error);

export function explain(error: unknown, limits: SqlLimits): unknown {
  if (error instanceof NotBegun) return explainOpening(error);
  if (isRefusal(error) || !isReported(error)) return error;
  const { errno = 0, sqlState = '', code = '', operation } = error;
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

/** The text that the server did not accept as a time. */
export function refusedTime(error: unknown): string | null {
  if (!hasErrno(error, WRONG_VALUE)) return null;
  return /^(?:Incorrect|Truncated incorrect) \w+ value: '([^']*)'/.exec(error.message)?.[1] ?? null;
}
