/** Turns what the driver and the server report into the catalogue. */
import { OpenwopError } from '@gantry/protocol';
import { lost, refused, ServerError, tlsFault, unconnected } from '../backend-errors.ts';

/** First words of replies that say: not now, or not here. */
const UNUSABLE =
  /^(BUSY|CLUSTERDOWN|LOADING|MASTERDOWN|MISCONF|MOVED|NOAUTH|NOREPLICAS|OOM|READONLY|TRYAGAIN|UNKILLABLE|WRONGPASS)\b/;
/** And not with this user or password. */
const REFUSALS: Readonly<Record<string, string>> = {
  NOAUTH: 'asks for a password (NOAUTH). Put it into the setting.',
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

/** As a script has it, and as a command has it. */
const DENIED = /^(?:NOPERM\b|ERR (?:ACL failure in script|The user executing the script can't))/;

export const isDenied = (error: unknown): boolean => error instanceof Error && DENIED.test(error.message);

/** `what` are commands, where the server says which. */
export const tooFewRights = (address: string, what = 'a command that is needed'): ServerError =>
  refused(
    'storage_unavailable',
    `Redis at ${address}`,
    `does not let the user run ${what}, or not on the keys gantry:* (NOPERM). Give the user the rights that ` +
      'docs/storage.md lists, or name another user in the setting.',
  );

/** Some servers say of a command in a script neither which it was nor on which key. */
const commandIn = ({ message }: Error): string | undefined =>
  /run the '([\w|]{1,40})' command/.exec(message)?.[1]?.toUpperCase();

/** The driver tells its own failures apart by text alone. */
const DRIVER =
  /^(Command timed out|Connection is closed|Socket timeout|Stream isn't writeable|Reached the max retries)/;

/**
 * `address` is host:port, never the password. `trouble` is why there is no connection, where that is known. Bugs
 * stay what they are.
 */
export const explain = (error: unknown, address: string, trouble: Error | undefined): unknown =>
  explainBy(error, address, trouble, (reason, source) => {
    const server = `Redis at ${address}`;
    const fault = tlsFault(source);
    if (fault === null) return lost(server, inWords(reason), error);
    // It is made anew all the time, so nothing has to be started again when that is mended
    return new ServerError('storage_unavailable', server, fault, { trouble: 'refused', cause: source });
  });

/** What connecting failed with: nobody's call had begun. */
export const explainOpening = (error: unknown, address: string, trouble: Error | undefined): unknown =>
  explainBy(error, address, trouble, (reason, source) =>
    unconnected('storage_unavailable', `Redis at ${address}`, source, inWords(reason)),
  );

/** `otherwise` is for what is no refusal; its `source` is the error that says most. */
function explainBy(
  error: unknown,
  address: string,
  trouble: Error | undefined,
  otherwise: (reason: string, source: Error) => ServerError,
): unknown {
  if (!(error instanceof Error) || error instanceof OpenwopError) return error;
  const source = (DRIVER.test(error.message) && trouble) || error;
  const reason = reasonOf(source) ?? DRIVER.exec(error.message)?.[1] ?? null;
  if (reason === null) return error;
  return refusalOf(reason, address, trouble, source) ?? otherwise(reason, source);
}

/** Also later: a password may change, and rights may be taken. */
function refusalOf(
  reason: string,
  address: string,
  trouble: Error | undefined,
  source: Error,
): ServerError | null {
  const ofDatabase = refusedDatabase(trouble, address);
  if (ofDatabase) return ofDatabase;
  if (reason === 'NOPERM') return tooFewRights(address, commandIn(source));
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

/** A word of the server, or a code of the system or of TLS. */
function reasonOf(error: Error): string | null {
  if (isDenied(error)) return 'NOPERM';
  const told = UNUSABLE.exec(error.message)?.[1];
  if (told !== undefined) return told;
  return 'code' in error && typeof error.code === 'string' && /^[A-Z][A-Z0-9_]+$/.test(error.code)
    ? error.code
    : null;
}
