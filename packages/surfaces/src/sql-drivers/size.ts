/** Size limits of answers. No imports at run time, since the processes of SQLite use it too. */
import type { Socket } from 'node:net';
import type { Data } from '../calls/data.ts';
import type { SqlLimits } from '../ports/sql.ts';

const PLAIN_BYTES = 8;

const sizeOf = (value: Data): number =>
  typeof value === 'string'
    ? Buffer.byteLength(value)
    : value instanceof Uint8Array
      ? value.byteLength
      : PLAIN_BYTES;

/** The size of a row, including its column names. */
export const rowBytes = (row: readonly (readonly [name: string, value: Data])[]): number =>
  row.reduce((sum, [name, value]) => sum + name.length + sizeOf(value), 0);

export const overText = (reason: 'rows' | 'bytes', { rowsMax, bytesMax }: SqlLimits): string =>
  reason === 'rows'
    ? `The query has more than ${rowsMax} rows. Ask for less with WHERE or LIMIT.`
    : `The query has more than ${bytesMax} bytes. Ask for fewer rows or columns.`;

const LOOK_MS = 5;
/** A float counts 8 bytes and may be sent as 24 of text with 4 of length; bytes are sent as two digits each. */
const WIRE_RATIO = 4;
const WIRE_ROOM = 1_048_576;

/** Rejects with `onOver()` when more arrives than the limits allow. Polls the socket: TLS reports no reads. */
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
