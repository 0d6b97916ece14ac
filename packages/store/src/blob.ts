/**
 * Large texts are stored once, by content. A column holds the text itself or a reference to a blob. A text that
 * looks like a reference becomes a blob whatever its size, so a reference is never ambiguous.
 *
 * `blob_uses` lists the holders of a blob. A blob is deleted with its last use.
 */
import { createHash } from 'node:crypto';
import type { EntryKey } from './port.ts';

const INLINE_BYTES_MAX = 64 * 1024;
const UTF8_BYTES_PER_UNIT_MAX = 3;
const PREFIX = 'blob:';

export const isReference = (text: string): boolean => text.startsWith(PREFIX);

export const referenceTo = (hash: string): string => PREFIX + hash;

export const hashOf = (reference: string): string => reference.slice(PREFIX.length);

/** The value of the column for `text`: the text itself, or a reference. */
export function atRest(text: string): string {
  if (!isBig(text) && !isReference(text)) return text;
  return referenceTo(createHash('sha256').update(text).digest('hex'));
}

export function isBig(text: string): boolean {
  if (text.length * UTF8_BYTES_PER_UNIT_MAX <= INLINE_BYTES_MAX) return false;
  return Buffer.byteLength(text) > INLINE_BYTES_MAX;
}

/** Reads such a column in the statement that reads its row, so the blob cannot be deleted in between. */
export const textColumn = (table: string, column: string): string =>
  `${ofBlob(`${table}.${column}`, 'body', `${table}.${column}`)} as ${column}`;

/** The length of such a column in bytes. PostgreSQL does not read the text of a blob for it. */
export const textBytes = (stored: string): string => ofBlob(stored, 'bytes', `octet_length(${stored})`);

const ofBlob = (stored: string, column: string, otherwise: string): string => `
    case substr(${stored}, 1, ${PREFIX.length})
      when '${PREFIX}' then (select ${column} from blob_texts where hash = substr(${stored}, ${PREFIX.length + 1}))
      else ${otherwise}
    end`;

/** The holder of a blob, as the key of `blob_uses`. */
export const holder = {
  run: (runId: string) => JSON.stringify(['run', runId]),
  snapshot: (runId: string) => JSON.stringify(['snapshot', runId]),
  invocation: (tenant: string, invocationId: string) => JSON.stringify(['invocation', tenant, invocationId]),
  idempotency: (tenant: string, operation: string, key: string) =>
    JSON.stringify(['idempotency', tenant, operation, key]),
  definition: (hash: string) => JSON.stringify(['definition', hash]),
  entry: ({ kind, tenant, id }: EntryKey) => JSON.stringify(['entry', kind, tenant, id]),
} as const;
