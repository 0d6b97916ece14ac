/** Turns what the driver and the server report into the catalogue. */
import { OpenwopError } from '@gantry/protocol';
import { codeOf, lost, ofConnecting, refused as refusedForGood, unreachable } from '../backend-errors.ts';
import { Refusal } from '../embedded/wire.ts';

const STATEMENT_TIMEOUT = '57014';
const DEADLOCK = '40P01';
const SERIALIZATION_FAILURE = '40001';
/** Classes of SQLSTATE: connection, authorization, missing database, resources, cancelled or shut down. */
const UNREACHABLE_CLASSES = ['08', '25', '28', '3D', '53', '57'];
const SQLSTATE_LENGTH = 5;

/** The server chose this transaction to give way: doing it again is right. */
export function isTransient(error: unknown): boolean {
  const code = codeOf(error);
  return code === DEADLOCK || code === SERIALIZATION_FAILURE;
}

/** `address` is host:port, never the password. Bugs stay what they are. */
export function explain(error: unknown, address: string): unknown {
  if (error instanceof Refusal) return refused(error);
  if (error instanceof OpenwopError) return error;
  const code = codeOf(error);
  if (code === null || !isUnreachable(code)) return error;
  return lost(`PostgreSQL at ${address}`, code, error);
}

/** A read waits for no lock: asking again would take as long. */
export function explainRead(error: unknown): unknown {
  if (codeOf(error) !== STATEMENT_TIMEOUT) return error;
  return new OpenwopError('validation_error', {
    message:
      'The database takes too long for this. Ask for less at once: a narrower filter, or smaller batches.',
    cause: error,
  });
}

const refused = ({ code, message, details }: Refusal): OpenwopError =>
  new OpenwopError(code, { details, ...(message && { message }) });

const REFUSALS: Readonly<Record<string, string>> = {
  '28P01': 'refuses the user or the password. Correct them in the setting.',
  '28000': 'refuses the user, or connections from here (pg_hba.conf). Correct the setting, or the server.',
  SASL_SIGNATURE_MISMATCH: 'refuses the user or the password. Correct them in the setting.',
  AUTH_TYPE_NOT_IMPLEMENTED: 'asks for a way to log in that is not supported. Use a password.',
  '3D000': 'has no database of that name. Create it, or correct the setting.',
  '42501': 'does not let the user make or change the schema gantry_surfaces. Grant CREATE on the database.',
};

const UNKNOWN_PARAMETER = '42704';
const WRONG_VALUE = '22023';

/** What the server says of a parameter in the URL. FATAL: it was connecting, and no statement of ours. */
export function refusedParameter(error: unknown): string | null {
  const code = codeOf(error);
  if (code !== UNKNOWN_PARAMETER && code !== WRONG_VALUE) return null;
  if (!(error instanceof Error && 'severity' in error && error.severity === 'FATAL')) return null;
  const name = /"([\w.]{1,63})"/.exec(error.message)?.[1];
  const parameter = name === undefined ? 'a parameter' : `the parameter "${name}"`;
  return code === UNKNOWN_PARAMETER
    ? `does not know ${parameter} of the URL.`
    : `does not take the value of ${parameter} of the URL.`;
}

/** What may pass: connection, lost races, a standby, resources, locks, shut down or starting, system, unknown. */
const PASSING_CLASSES = ['08', '25', '40', '53', '55', '57', '58', 'XX'];

/** What connecting and bringing up the schema failed with: nobody's call had begun. Bugs stay what they are. */
export function explainOpening(error: unknown, address: string): unknown {
  const code = error instanceof OpenwopError ? null : codeOf(error);
  if (code === null) return error;
  const server = `PostgreSQL at ${address}`;
  const parameter = refusedParameter(error);
  const refusal = parameter === null ? REFUSALS[code] : `${parameter} Correct it in the setting.`;
  if (refusal !== undefined) return refusedForGood('storage_unavailable', server, refusal);
  const isOfServer = error instanceof Error && error.name === 'PostgresError';
  if (isOfServer && !PASSING_CLASSES.includes(code.slice(0, 2)))
    return refusedForGood(
      'storage_unavailable',
      server,
      `does not take the schema of this Gantry (${code}).`,
    );
  return unreachable('storage_unavailable', server, ofConnecting(error, code));
}

/** Reported by the server, by the driver (CONNECTION_CLOSED, ...) or by the system (ECONNREFUSED, ...). */
function isUnreachable(code: string): boolean {
  if (/^(CONNECT|AUTH|SASL)/.test(code) || /^E[A-Z]+$/.test(code)) return true;
  return code.length === SQLSTATE_LENGTH && UNREACHABLE_CLASSES.includes(code.slice(0, 2));
}

/** Longer than a statement may take; a server that went silent would otherwise keep its callers for ever. */
const OPERATION_TIMEOUT_MS = 15_000;

class TimedOut extends Error {
  readonly code = 'ETIMEDOUT';
}

/** The work itself goes on: the server ends it. */
export async function inTime<T>(work: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new TimedOut('PostgreSQL did not answer')), OPERATION_TIMEOUT_MS);
  work.catch(() => {});
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
