/** Turns what the driver and the server report into the catalogue. */
import { OpenwopError } from '@gantry/protocol';

/** First words of replies that say: not now, not here, or not with this password. */
const UNUSABLE =
  /^(BUSY|CLUSTERDOWN|LOADING|MASTERDOWN|MISCONF|MOVED|NOAUTH|NOPERM|NOREPLICAS|OOM|READONLY|TRYAGAIN|UNKILLABLE|WRONGPASS)\b/;
/** The driver tells its own failures apart by text alone. */
const DRIVER =
  /^(Command timed out|Connection is closed|Socket timeout|Stream isn't writeable|Reached the max retries)/;

/**
 * `address` is host:port, never the password. `trouble` is why there is no connection, where that is known. Bugs
 * stay what they are.
 */
export function explain(error: unknown, address: string, trouble: Error | undefined): unknown {
  if (!(error instanceof Error) || error instanceof OpenwopError) return error;
  const driver = DRIVER.exec(error.message)?.[1];
  const reason = driver === undefined ? reasonOf(error) : ((trouble && reasonOf(trouble)) ?? driver);
  if (reason === null) return error;
  const refusal = new OpenwopError('storage_unavailable', {
    message:
      `Redis at ${address} cannot be used for now (${reason}). Whether the last write was kept is not known; ` +
      'asking again is safe. Try again later.',
  });
  refusal.cause = error;
  return refusal;
}

/** A word of the server, or a code of the system or of TLS. */
function reasonOf(error: Error): string | null {
  const told = UNUSABLE.exec(error.message)?.[1];
  if (told !== undefined) return told;
  return 'code' in error && typeof error.code === 'string' && /^[A-Z_]+$/.test(error.code)
    ? error.code
    : null;
}
