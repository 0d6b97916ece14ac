/** Turns what the driver and the server report into the catalogue. */
import { StoreError } from '../error.ts';

const DISK_FULL = '53100';
const READ_ONLY = '25006';
const DEADLOCK = '40P01';
const SERIALIZATION_FAILURE = '40001';
/** Classes of SQLSTATE: connection, authorization, missing database, resources, shutdown. */
const UNREACHABLE_CLASSES = ['08', '28', '3D', '53', '57'];
const SQLSTATE_LENGTH = 5;
const INVALID_TEXT = '22021';
const CORRUPT = ['XX001', 'XX002'];

/** `address` is host:port, never the password. Answers a StoreError for what an operator can mend. */
export function explain(error: unknown, address: string): unknown {
  if (error instanceof StoreError) return error;
  const code = codeOf(error);
  if (code === null) return error;
  const cause = error;
  const detail = `PostgreSQL at ${address} (${describe(error, code)})`;
  if (code === DISK_FULL) return new StoreError('disk_full', `The disk is full: ${detail}.`, { cause });
  if (code === READ_ONLY) return new StoreError('read_only', `Only reads are allowed: ${detail}.`, { cause });
  if (code === INVALID_TEXT)
    return new StoreError('invalid_text', `A text was refused: ${detail}.`, { cause });
  if (isUnreachable(code)) {
    return new StoreError('io', `Cannot use ${detail}.`, { cause });
  }
  if (CORRUPT.includes(code)) {
    return new StoreError('corrupt', `The database is damaged: ${detail}.`, { cause });
  }
  return error;
}

/** The server chose this transaction to give way: doing it again is right. */
export function isTransient(error: unknown): boolean {
  const code = codeOf(error);
  return code === DEADLOCK || code === SERIALIZATION_FAILURE;
}

function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

/** Reported by the server, by the driver (CONNECTION_CLOSED, ...) or by the system (ECONNREFUSED, ...). */
function isUnreachable(code: string): boolean {
  if (/^(CONNECT|AUTH|SASL)/.test(code) || /^E[A-Z]+$/.test(code)) return true;
  return code.length === SQLSTATE_LENGTH && UNREACHABLE_CLASSES.includes(code.slice(0, 2));
}

const describe = (error: unknown, code: string): string =>
  error instanceof Error && error.message ? error.message : code;
