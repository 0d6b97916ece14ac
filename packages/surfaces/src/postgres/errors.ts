/** Turns what the driver and the server report into the catalogue. */
import { type ErrorCode, type JsonObject, OpenwopError } from '@gantry/protocol';
import { Refusal } from '../embedded/wire.ts';

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
  const refusal = new OpenwopError('storage_unavailable', {
    message:
      `PostgreSQL at ${address} cannot be used for now (${code}). Whether the last write was kept is not known; ` +
      'asking again is safe. Try again later.',
  });
  refusal.cause = error;
  return refusal;
}

const refused = ({ code, message, details }: Refusal): OpenwopError =>
  new OpenwopError(code as ErrorCode, { details: details as JsonObject, ...(message && { message }) });

function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
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
