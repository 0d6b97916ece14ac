/** What drivers report, in the words of the catalogue. */
import { type JsonObject, OpenwopError } from '@gantry/protocol';
import type { SqlAbort, SqlLimits } from '../ports/sql.ts';
import { overText } from './size.ts';

const SAID_MAX = 300;

/** What a database said about a statement. Never of connecting: that could hold an address. */
export const said = (database: string, message: string): string =>
  `${database}: ${message.length > SAID_MAX ? `${message.slice(0, SAID_MAX)}…` : message}`;

export const aborted = (reason: SqlAbort, message: string, details: JsonObject = {}): OpenwopError =>
  new OpenwopError('sql_transaction_aborted', { message, details: { reason, ...details } });

export const late = ({ timeoutMs }: SqlLimits): OpenwopError =>
  aborted(
    'timeout',
    `The database did not end within ${timeoutMs} ms; nothing was kept. Ask for less at once.`,
  );

export const tooMany = (reason: 'rows' | 'bytes', limits: SqlLimits): OpenwopError =>
  aborted(reason, overText(reason, limits));

export const unavailable = (database: string, cause: unknown, code: string): OpenwopError =>
  new OpenwopError('storage_unavailable', {
    message: `${database} cannot be used for now (${code}). Nothing was changed. Try again later.`,
    cause,
  });

/** The database answers, and refuses as the operator has set it up: waiting mends nothing. */
export const refused = (database: string, cause: unknown, why: string): OpenwopError =>
  new OpenwopError('storage_unavailable', { message: `${database} ${why}`, cause });

export const WRONG_LOGIN = 'refuses the user or the password. Correct them in the file of data sources.';
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

/** Rejects with `onLate()` when `work` takes longer; the work itself has to find out by other means. */
export async function within<T>(ms: number, work: Promise<T>, onLate: () => Error): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(onLate()), ms);
  work.catch(() => {});
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
