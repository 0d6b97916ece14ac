/** Maps errors of drivers to the catalogue. */
import { type JsonObject, OpenwopError } from '@gantry/protocol';
import { ServerError } from '../backend-errors.ts';
import type { SqlAbort, SqlLimits } from '../ports/sql.ts';
import { overText } from './size.ts';

const SAID_MAX = 300;

/** The database's message about a statement. Never used for connecting: such a message could contain an address. */
export const said = (database: string, message: string): string =>
  `${database}: ${message.length > SAID_MAX ? `${message.slice(0, SAID_MAX)}…` : message}`;

export const aborted = (reason: SqlAbort, message: string, details: JsonObject = {}): OpenwopError =>
  new OpenwopError('sql_transaction_aborted', { message, details: { reason, ...details } });

export const late = ({ timeoutMs }: SqlLimits): OpenwopError =>
  aborted('timeout', `The statement exceeded ${timeoutMs} ms and was rolled back. Request less at once.`);

export const tooMany = (reason: 'rows' | 'bytes', limits: SqlLimits): OpenwopError =>
  aborted(reason, overText(reason, limits));

export const unavailable = (database: string, cause: unknown, code: string): ServerError =>
  new ServerError(
    'storage_unavailable',
    database,
    `is not available (${code}). Nothing was changed. Try again later.`,
    { cause },
  );

/** The database answers, but its setup refuses the host. Does not fail the start: it may belong to one tenant only. */
export const refused = (database: string, cause: unknown, why: string): ServerError =>
  new ServerError('storage_unavailable', database, why, { trouble: 'rejected', cause });

export const WRONG_LOGIN = 'rejected the user or the password. Correct them in the file of data sources.';
export const NO_DATABASE = 'has no database of that name. Create it, or correct the file of data sources.';

export const silent = (name: string): OpenwopError => unavailable(name, undefined, 'no answer');

export const inDoubt = (database: string, cause: unknown): OpenwopError =>
  new OpenwopError('effect_in_doubt', {
    message:
      `${database} was lost while it committed, and cannot say if it did. Look at the data, then fork or start a ` +
      'new run.',
    cause,
  });

export const isRefusal = (error: unknown): error is OpenwopError => error instanceof OpenwopError;
