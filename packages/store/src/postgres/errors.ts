/** Maps errors of the driver and the server to the error catalogue. */
import {
  codeOf,
  isLostConnection,
  isOfServer,
  mayHaveArrived,
  postgresReason,
  refusalOf,
  UnknownOutcomeError,
} from '@gantry/postgres';
import { StoreError } from '../error.ts';

const SETTING = 'GANTRY_DATABASE_URL';
const DISK_FULL = '53100';
const READ_ONLY = '25006';
const DEADLOCK = '40P01';
const SERIALIZATION_FAILURE = '40001';
const NO_RIGHT = '42501';
/** Classes of SQLSTATE: connection, authorization, missing database, resources, shutdown. */
const UNREACHABLE_CLASSES = ['08', '28', '3D', '53', '57'];
const INVALID_TEXT = '22021';
/** Classes of SQLSTATE: data, constraints, limits of the server. */
const CONTENT_CLASSES = ['22', '23', '54'];
/** Node's error codes for certificate and other TLS failures. */
const TLS = /^(?:CERT_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_|HOSTNAME_|INVALID_|ERR_TLS_|ERR_SSL_)/;
const CORRUPT = ['XX001', 'XX002'];

/** Retrying does not help: the message itself contains the advice. */
class Refused extends StoreError {
  constructor(happened: string, cause: unknown) {
    super('io', happened, { cause });
    this.message = happened;
  }
}

/** `address` is host:port, never the password. Returns a StoreError for failures that an operator can fix. */
export function explain(error: unknown, address: string): unknown {
  if (error instanceof StoreError) return error;
  const code = codeOf(error);
  if (code === null) return error;
  const server = `PostgreSQL at ${address}`;
  if (error instanceof UnknownOutcomeError) return unknownOutcome(error, server);
  const refusal = refusalOf(error, SETTING);
  if (refusal !== null) return new Refused(`${server} ${refusal}`, error);
  if (isLostConnection(error) && TLS.test(code)) return new Refused(`${server} ${unsafe(code)}`, error);
  const cause = error;
  const detail = `${server} (${postgresReason(code)})`;
  if (code === DISK_FULL) return new StoreError('disk_full', `The disk is full: ${detail}.`, { cause });
  if (code === READ_ONLY) return new StoreError('read_only', `Only reads are allowed: ${detail}.`, { cause });
  if (code === INVALID_TEXT)
    return new StoreError('invalid_text', `A text was refused: ${server} (${said(error)}).`, { cause });
  if (isOfServer(error) && CONTENT_CLASSES.includes(code.slice(0, 2)))
    return new StoreError('rejected', `${server} rejected a commit (${code}: ${said(error)}).`, { cause });
  if (isLostConnection(error) || isAway(error, code))
    return new StoreError('io', `${server} cannot be used (${postgresReason(code)}).`, { cause });
  if (CORRUPT.includes(code))
    return new StoreError('corrupt', `The database is damaged: ${server} (${said(error)}).`, { cause });
  return error;
}

/** For a statement that writes outside a transaction. */
export function explainWrite(error: unknown, address: string): unknown {
  const explained = explain(error, address);
  const isUnreachable = explained instanceof StoreError && explained.code === 'io';
  if (!isUnreachable || explained instanceof Refused || !mayHaveArrived(error)) return explained;
  return unknownOutcome(error, `PostgreSQL at ${address}`);
}

const unknownOutcome = (cause: unknown, server: string): StoreError => {
  const reason = postgresReason(codeOf(cause) ?? 'no code');
  const happened = `The answer of ${server} to a write was lost (${reason}); it may have been applied.`;
  return new StoreError('io', happened, { cause, outcome: 'unknown' });
};

/** While the store opens, the reader is the author of the setting, so it is named first. Bugs are not wrapped. */
export function explainOpening(error: unknown, address: string): unknown {
  const explained =
    codeOf(error) === NO_RIGHT && !refusalOf(error, SETTING)
      ? noRight(error, address)
      : explain(error, address);
  if (explained instanceof StoreError) explained.message = `${SETTING}: ${explained.message}`;
  return explained;
}

/** An invalid URL. The message contains nothing of the URL. */
export const badUrl = (error: Error): StoreError => new Refused(`${SETTING}: ${error.message}`, error);

const noRight = (error: unknown, address: string): StoreError =>
  new Refused(
    `PostgreSQL at ${address} does not allow the user to create or change the tables of the store. Grant it CREATE and ` +
      'USAGE on the schema (grant all on schema public to ...), or make it the owner of the database and its tables.',
    error,
  );

const unsafe = (code: string): string =>
  `cannot be reached safely over TLS (${code}). It needs a certificate that is valid now and for its name in ` +
  `${SETTING}; name the file of an authority of your own (PEM) in NODE_EXTRA_CA_CERTS, and start again.`;

/** The server aborted this transaction in favour of another one: a retry is correct. */
export function isTransient(error: unknown): boolean {
  const code = codeOf(error);
  return code === DEADLOCK || code === SERIALIZATION_FAILURE;
}

const isAway = (error: unknown, code: string): boolean =>
  isOfServer(error) && UNREACHABLE_CLASSES.includes(code.slice(0, 2));

const said = (error: unknown): string => (error instanceof Error ? error.message : '');
