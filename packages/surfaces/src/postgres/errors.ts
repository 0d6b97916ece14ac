/** Turns what the driver and the server report into the catalogue. */
import { OpenwopError } from '@gantry/protocol';
import { codeOf, lost, ofConnecting, refused as refusedForGood, unreachable } from '../backend-errors.ts';
import { inTime } from '../deadline.ts';
import { postgresReason } from '../postgres-reason.ts';
import { Refusal } from '../refusal.ts';
import { refusedParameter } from '../refused-parameter.ts';

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
  if (code === null) return error;
  const server = `PostgreSQL at ${address}`;
  // A connection was made anew, or rights were taken: nothing of the call was done
  const refusal = REFUSALS[code];
  if (refusal !== undefined) return refusedForGood('storage_unavailable', server, refusal, error);
  return isUnreachable(code) ? lost(server, postgresReason(code), error) : error;
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
  AUTH_TYPE_NOT_IMPLEMENTED:
    'asks for a way to log in that is not supported. Let the user log in with a password (scram-sha-256 in pg_hba.conf).',
  '3D000': 'has no database of that name. Create it, or correct the setting.',
  '42501':
    'does not let the user make or change what is in the schema gantry_surfaces. Grant it CREATE on the database, and ' +
    'make it the owner of that schema and all in it.',
};

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
      `does not take the schema of this Gantry (${code}). Its log says why; mend that, or name another database.`,
    );
  return unreachable('storage_unavailable', server, postgresReason(ofConnecting(error, code)));
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
export const operation = <T>(work: Promise<T>): Promise<T> =>
  inTime(OPERATION_TIMEOUT_MS, work, () => new TimedOut('PostgreSQL did not answer'));
