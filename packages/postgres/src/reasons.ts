/** Explains failures of PostgreSQL, the driver and the system that no statement caused, for operators. */
import { NO_TLS, STATEMENT_TIMEOUT } from './wire.ts';

/** The code of the server, the driver or the system; null for any other error, which is a bug. */
export const codeOf = (error: unknown): string | null =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;

/** Checks the name, since codes of the system can look like those of the server: EPIPE. */
export const isOfServer = (error: unknown): boolean =>
  error instanceof Error && error.name === 'PostgresError';

/** An error while connecting, not of a statement. */
const isFatal = (error: unknown): boolean =>
  error instanceof Error && 'severity' in error && error.severity === 'FATAL';

/** The server refused the statement, and the session continues. */
const isRefusedStatement = (error: unknown): boolean => isOfServer(error) && !isFatal(error);

/** COMMIT was sent and no answer came: the server may have committed the transaction. */
export class UnknownOutcomeError extends Error {
  readonly code: string;

  constructor(cause: unknown) {
    super('The answer to COMMIT was lost', { cause });
    this.code = codeOf(cause) ?? 'CONNECTION_CLOSED';
  }
}

/** The error to throw when COMMIT, or a statement sent with it, has failed. */
export const commitError = (error: unknown): unknown =>
  isRefusedStatement(error) ? error : new UnknownOutcomeError(error);

/** Errors that occur before anything but the session start was sent. */
const NOT_SENT =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ENOENT|EACCES|CONNECT_TIMEOUT|CONNECTION_ENDED|53300|57P03)$/;

/** Whether the server may have executed a write outside a transaction. */
export const mayHaveArrived = (error: unknown): boolean =>
  !isRefusedStatement(error) && !NOT_SENT.test(codeOf(error) ?? '');

/** Codes of the driver and Node for invalid calls. */
const BUGS = /^(?:UNDEFINED_VALUE|NOT_TAGGED_CALL|MAX_PARAMETERS_EXCEEDED|COPY_IN_PROGRESS|ERR_INVALID_)/;

/** Whether the system, TLS or the driver reports that a connection failed or was lost. */
export function isLostConnection(error: unknown): boolean {
  const code = codeOf(error);
  return code !== null && !isOfServer(error) && !BUGS.test(code);
}

const WRONG_LOGIN = 'rejected the user or the password. Correct them in';

/** `setting`: the name of the place of the URL, such as `the setting`. */
const REFUSALS: Readonly<Record<string, (setting: string) => string>> = {
  '28P01': (setting) => `${WRONG_LOGIN} ${setting}.`,
  SASL_SIGNATURE_MISMATCH: (setting) => `${WRONG_LOGIN} ${setting}.`,
  '28000': (setting) =>
    `rejected the user, or connections from this address (pg_hba.conf). Correct ${setting}, or the server.`,
  AUTH_TYPE_NOT_IMPLEMENTED: () =>
    'asks for a way to log in that is not supported. Let the user log in with a password (scram-sha-256 in pg_hba.conf).',
  '3D000': (setting) => `has no database of that name. Create it, or correct ${setting}.`,
  [NO_TLS]: (setting) =>
    `has no TLS, which "sslmode" of the URL asks for. Switch it on there (ssl = on), or correct ${setting}.`,
};

/** Includes the wording of versions before 14. */
const NO_ENCRYPTION = /\b(?:no encryption|SSL off)\b/;
const NOT_ENCRYPTED = (setting: string): string =>
  'rejected the user, or connections from this address that are not encrypted. Add ?sslmode=verify-full (or require) to the ' +
  `URL in ${setting}.`;
const NO_CONNECT =
  'does not let the user connect to the database. Grant it CONNECT: grant connect on database ... to ...';

/** Why the server refuses every connection as it is configured now: a sentence after its name, else null. */
export function refusalOf(error: unknown, setting: string): string | null {
  const code = codeOf(error);
  if (code === null) return null;
  const parameter = refusedParameter(error, code);
  if (parameter !== null) return `${parameter} Correct it in ${setting}.`;
  if (code === '28000' && NO_ENCRYPTION.test(String(error))) return NOT_ENCRYPTED(setting);
  if (code === '42501' && isFatal(error)) return NO_CONNECT;
  return REFUSALS[code]?.(setting) ?? null;
}

const UNKNOWN_PARAMETER = '42704';
const WRONG_VALUE = '22023';

/** A parameter of the URL that PostgreSQL refuses. */
function refusedParameter(error: unknown, code: string): string | null {
  if ((code !== UNKNOWN_PARAMETER && code !== WRONG_VALUE) || !isFatal(error)) return null;
  const name = /"([\w.]{1,63})"/.exec(String(error))?.[1];
  const parameter = name === undefined ? 'a parameter' : `the parameter "${name}"`;
  return code === UNKNOWN_PARAMETER
    ? `does not know ${parameter} of the URL.`
    : `does not take the value of ${parameter} of the URL.`;
}

const MEANINGS: Readonly<Record<string, string>> = {
  '25006': 'it takes no writes, as a standby; name the primary server',
  '53100': 'its disk is full',
  '53200': 'it is out of memory',
  '53300': 'it has too many connections; raise max_connections, or let fewer processes use it',
  '57014': 'a statement took too long, or waited too long for others',
  '57P01': 'it is shutting down',
  '57P02': 'it ended after a crash of one of its processes',
  '57P03': 'it is starting, or a standby that takes no connections',
  '58030': 'its disk fails',
  [STATEMENT_TIMEOUT]: 'it did not answer a statement in time',
};

/** Only the code if its meaning is not known. */
export const postgresReason = (code: string): string =>
  MEANINGS[code] === undefined ? code : `${code}: ${MEANINGS[code]}`;
