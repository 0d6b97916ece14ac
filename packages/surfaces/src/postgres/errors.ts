/** Maps errors of the driver and the server to the catalogue. */
import { isLostConnection, isOfServer, postgresReason, refusalOf } from '@gantry/postgres';
import { OpenwopError } from '@gantry/protocol';
import {
  codeOf,
  lost,
  refused as refusedForGood,
  ServerError,
  tlsFault,
  unconnected,
} from '../backend-errors.ts';
import { inTime } from '../deadline.ts';
import { Refusal } from '../refusal.ts';

const STATEMENT_TIMEOUT = '57014';
const DEADLOCK = '40P01';
const SERIALIZATION_FAILURE = '40001';
/** Classes of SQLSTATE: connection, authorization, missing database, resources, cancelled or shut down. */
const UNREACHABLE_CLASSES = ['08', '25', '28', '3D', '53', '57'];
const NO_RIGHT = '42501';

/** The server chose this transaction as a victim: it should be retried. */
export function isTransient(error: unknown): boolean {
  const code = codeOf(error);
  return code === DEADLOCK || code === SERIALIZATION_FAILURE;
}

const ATTEMPTS_MAX = 20;

/** Every lost race means that another transaction won, so the loop ends. */
export async function untilWon<T>(attempt: () => Promise<T>, isLostRace = isTransient): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      if (!isLostRace(error) || attempts === ATTEMPTS_MAX) throw error;
    }
  }
}

/** `address` is host:port, never the password. Bugs are returned unchanged. */
export function explain(error: unknown, address: string): unknown {
  if (error instanceof Refusal) return refused(error);
  if (error instanceof OpenwopError) return error;
  const code = codeOf(error);
  if (code === null) return error;
  const server = `PostgreSQL at ${address}`;
  // A new connection was refused, or rights were revoked: the call changed nothing
  const refusal = refusedBy(error, code);
  if (refusal !== null) return refusedForGood(server, refusal, error);
  const fault = isOfServer(error) ? null : tlsFault(error);
  if (fault !== null)
    return new ServerError('storage_unavailable', server, fault, { trouble: 'rejected', cause: error });
  return isUnreachable(error, code) ? lost(server, postgresReason(code), error) : error;
}

/** A read waits for no lock, so repeating it would take as long. */
export function explainRead(error: unknown): unknown {
  if (codeOf(error) !== STATEMENT_TIMEOUT) return error;
  return new OpenwopError('validation_error', {
    message: 'The statement takes too long. Request less at once: use a narrower filter or smaller batches.',
    cause: error,
  });
}

const refused = ({ code, message, details }: Refusal): OpenwopError =>
  new OpenwopError(code, { details, ...(message && { message }) });

const NO_SCHEMA_RIGHT =
  'does not allow the user to create or change objects in the schema gantry_surfaces. Grant it CREATE on the database if ' +
  'there is no such schema yet; else make it the owner of that schema and all in it.';

const refusedBy = (error: unknown, code: string): string | null =>
  refusalOf(error, 'the setting') ?? (code === NO_RIGHT ? NO_SCHEMA_RIGHT : null);

/** Temporary: connection, lost races, a standby, resources, locks, shut down or starting, system, unknown. */
const PASSING_CLASSES = ['08', '25', '40', '53', '55', '57', '58', 'XX'];

/** Failures of connecting and creating the schema, before any call. Bugs are returned unchanged. */
export function explainOpening(error: unknown, address: string): unknown {
  const code = error instanceof OpenwopError ? null : codeOf(error);
  if (code === null) return error;
  const server = `PostgreSQL at ${address}`;
  const refusal = refusedBy(error, code);
  if (refusal !== null) return refusedForGood(server, refusal);
  if (isOfServer(error) && !PASSING_CLASSES.includes(code.slice(0, 2)))
    return refusedForGood(
      server,
      `rejected the schema of this Gantry version (${code}). See its log; correct the cause, or use another database.`,
    );
  return unconnected(server, error, postgresReason(code));
}

/** Reported by the server, or by the driver (CONNECTION_CLOSED), the system (ECONNREFUSED), TLS (CERT_HAS_EXPIRED). */
const isUnreachable = (error: unknown, code: string): boolean =>
  isLostConnection(error) || (isOfServer(error) && UNREACHABLE_CLASSES.includes(code.slice(0, 2)));

/** Longer than the statement timeout; without it, callers of a silent server would wait forever. */
const OPERATION_TIMEOUT_MS = 15_000;

class TimedOut extends Error {
  readonly code = 'ETIMEDOUT';
}

/** The work itself continues until the server ends it. */
export const operation = <T>(work: Promise<T>): Promise<T> =>
  inTime(OPERATION_TIMEOUT_MS, work, () => new TimedOut('PostgreSQL did not answer'));
