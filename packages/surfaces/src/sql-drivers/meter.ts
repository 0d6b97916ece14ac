/** How much may come in from a server. Drivers hand out whole rows, and one row may be of any size. */
import type { Socket } from 'node:net';
import type { SqlLimits } from '../ports/sql.ts';

const LOOK_MS = 5;
/** A float counts 8 bytes and may travel as 24 of text with 4 of length; bytes travel as two digits each. */
const WIRE_RATIO = 4;
const WIRE_ROOM = 1_048_576;

/**
 * Rejects with `onOver()` when more comes in than any answer within the limits can take. The socket is looked at from
 * time to time, since below TLS it tells nobody what it reads ([m] 200 MB in one row: 2 MB over the bound).
 */
export async function metered<T>(
  socket: Socket | null,
  { bytesMax }: SqlLimits,
  work: Promise<T>,
  onOver: () => Error,
): Promise<T> {
  const before = socket?.bytesRead ?? 0;
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setInterval(() => {
    const read = (socket?.bytesRead ?? 0) - before;
    if (read > bytesMax * WIRE_RATIO + WIRE_ROOM) reject(onOver());
  }, LOOK_MS);
  work.catch(() => {});
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearInterval(timer);
  }
}
