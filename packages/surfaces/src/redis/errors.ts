/** Turns what the driver and the server report into the catalogue. */
import { OpenwopError } from '@gantry/protocol';
import { lost, ofConnecting, refused, type ServerError, unreachable } from '../backend-errors.ts';

/** First words of replies that say: not now, or not here. */
const UNUSABLE =
  /^(BUSY|CLUSTERDOWN|LOADING|MASTERDOWN|MISCONF|MOVED|NOAUTH|NOPERM|NOREPLICAS|OOM|READONLY|TRYAGAIN|UNKILLABLE|WRONGPASS)\b/;
/** And not with this user or password. */
const REFUSALS: Readonly<Record<string, string>> = {
  NOAUTH: 'asks for a password (NOAUTH). Put it into the setting.',
  NOPERM:
    'does not let the user run a command that is needed (NOPERM). Allow it all commands on the keys gantry:*, or name ' +
    'another user in the setting.',
  WRONGPASS: 'refuses the user or the password (WRONGPASS). Correct them in the setting.',
};
/** What the others mean, with what an operator can do. */
const MEANINGS: Readonly<Record<string, string>> = {
  BUSY: 'a script of somebody keeps it busy',
  LOADING: 'it is starting',
  MASTERDOWN: 'it is a replica without its primary',
  MISCONF: 'it cannot write to its disk',
  NOREPLICAS: 'it has too few replicas to take writes',
  OOM: 'its memory is full; raise maxmemory',
  READONLY: 'it is a replica; name the primary server',
};

const inWords = (reason: string): string =>
  MEANINGS[reason] === undefined ? reason : `${reason}: ${MEANINGS[reason]}`;
/** The driver tells its own failures apart by text alone. */
const DRIVER =
  /^(Command timed out|Connection is closed|Socket timeout|Stream isn't writeable|Reached the max retries)/;

/**
 * `address` is host:port, never the password. `trouble` is why there is no connection, where that is known. Bugs
 * stay what they are.
 */
export function explain(error: unknown, address: string, trouble: Error | undefined): unknown {
  if (!(error instanceof Error) || error instanceof OpenwopError) return error;
  const reason = reasonBehind(error, trouble);
  if (reason === null) return error;
  return refusalOf(reason, address, trouble) ?? lost(`Redis at ${address}`, inWords(reason), error);
}

/** What connecting failed with: nobody's call had begun. */
export function explainOpening(error: unknown, address: string, trouble: Error | undefined): unknown {
  if (!(error instanceof Error) || error instanceof OpenwopError) return error;
  const reason = reasonBehind(error, trouble);
  if (reason === null) return error;
  return (
    refusalOf(reason, address, trouble) ??
    unreachable('storage_unavailable', `Redis at ${address}`, inWords(reason))
  );
}

/** Also later: a password may change, and rights may be taken. */
function refusalOf(reason: string, address: string, trouble: Error | undefined): ServerError | null {
  const ofDatabase = refusedDatabase(trouble, address);
  if (ofDatabase) return ofDatabase;
  const why = REFUSALS[reason];
  return why === undefined ? null : refused('storage_unavailable', `Redis at ${address}`, why);
}

/** The answer to SELECT, which the driver sends on every new connection. */
export const isOfDatabase = (error: Error): boolean =>
  'command' in error && (error.command as { readonly name?: string }).name === 'select';

function refusedDatabase(trouble: Error | undefined, address: string): ServerError | null {
  if (trouble === undefined || !isOfDatabase(trouble)) return null;
  const reason = reasonOf(trouble);
  // Else it is not about the database: nobody has logged in, or the server is busy
  if (reason !== null && reason !== 'NOPERM') return null;
  const why =
    reason === null
      ? 'does not have the database that the setting names. Name one that it has, or none for database 0.'
      : 'does not let the user use the database that the setting names. Grant SELECT to the user, or name none.';
  return refused('storage_unavailable', `Redis at ${address}`, why);
}

function reasonBehind(error: Error, trouble: Error | undefined): string | null {
  const driver = DRIVER.exec(error.message)?.[1];
  return driver === undefined ? reasonOf(error) : ((trouble && reasonOf(trouble)) ?? driver);
}

/** A word of the server, or a code of the system or of TLS. */
function reasonOf(error: Error): string | null {
  const told = UNUSABLE.exec(error.message)?.[1];
  if (told !== undefined) return told;
  return 'code' in error && typeof error.code === 'string' && /^[A-Z_]+$/.test(error.code)
    ? ofConnecting(error, error.code)
    : null;
}
