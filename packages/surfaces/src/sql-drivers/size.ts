/** How large an answer may be. Loads nothing, since the processes of SQLite use it too. */
import type { Data } from '../calls/data.ts';
import type { SqlLimits } from '../ports/sql.ts';

const PLAIN_BYTES = 8;

const sizeOf = (value: Data): number =>
  typeof value === 'string'
    ? Buffer.byteLength(value)
    : value instanceof Uint8Array
      ? value.byteLength
      : PLAIN_BYTES;

/** A row with the names of its columns, which it carries. */
export const rowBytes = (row: readonly (readonly [name: string, value: Data])[]): number =>
  row.reduce((sum, [name, value]) => sum + name.length + sizeOf(value), 0);

export const overText = (reason: 'rows' | 'bytes', { rowsMax, bytesMax }: SqlLimits): string =>
  reason === 'rows'
    ? `The query has more than ${rowsMax} rows. Ask for less with WHERE or LIMIT.`
    : `The query has more than ${bytesMax} bytes. Ask for fewer rows or columns.`;
