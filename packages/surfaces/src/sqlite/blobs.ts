/** Which objects there are, and which file holds each one's content. The files are `blob/content-files.ts`'s. */
import type { DatabaseSync } from 'node:sqlite';
import { boundsOf, type KeyBounds } from '../capabilities/kv/key-range.ts';
import { type BlobEntry, type BlobRange, OBJECT_OVERHEAD_BYTES, type TenantBlob } from '../ports/blobs.ts';
import { Refusal } from '../refusal.ts';
import { defineArea, LIMIT } from './statements.ts';

export interface StoredBlob {
  readonly file: string;
  readonly bytes: number;
  readonly contentType: string | null;
}

/** The journal keeps it. */
export interface NamedBlob {
  readonly file: string;
  readonly bytes: number;
  /** Which held the content before. */
  readonly replaced?: string;
}

const FIND = `
  select file, bytes, content_type as contentType from blobs where tenant = ? and bucket = ? and key = ?
`;
/** Exported for its plan. */
export const listFrom = (operator: KeyBounds['operator']): string => `
  select key, bytes as sizeBytes from blobs
  where tenant = ? and bucket = ? and key ${operator} ? and key < ? order by key ${LIMIT}
`;
/** In the order of SQLite every text is below it. */
const ABOVE_TEXT = new Uint8Array(0);
const SAVE = `
  insert into blobs (tenant, bucket, key, file, bytes, content_type) values (?, ?, ?, ?, ?, ?)
  on conflict do update set file = excluded.file, bytes = excluded.bytes, content_type = excluded.content_type
`;

const blobOf = (row: unknown): StoredBlob | null => (row ? { ...(row as StoredBlob) } : null);

export const blobArea = defineArea({
  reads: (database) => {
    const find = database.prepare(FIND);
    const lists = { '>': database.prepare(listFrom('>')), '>=': database.prepare(listFrom('>=')) };
    const named = database.prepare('select 1 from blobs where file = ?');
    const garbage = database.prepare(`select file from blob_garbage where since < ? order by since ${LIMIT}`);
    return {
      get: ({ tenant, bucket, key }: TenantBlob): StoredBlob | null => blobOf(find.get(tenant, bucket, key)),
      list: (tenant: string, { bucket, limit, ...page }: BlobRange): BlobEntry[] => {
        const { from, operator, end } = boundsOf(page);
        return lists[operator]
          .all(tenant, bucket, from, end ?? ABOVE_TEXT, limit)
          .map((row) => ({ key: String(row.key), sizeBytes: Number(row.sizeBytes) }));
      },
      isNamed: (file: string): boolean => named.get(file) !== undefined,
      garbage: (before: number, limit: number): string[] =>
        garbage.all(before, limit).map(({ file }) => String(file)),
    };
  },
  writes: (database) => {
    const find = database.prepare(FIND);
    const save = database.prepare(SAVE);
    const remove = database.prepare('delete from blobs where tenant = ? and bucket = ? and key = ?');
    const discard = database.prepare('insert or ignore into blob_garbage values (?, ?)');
    const forget = database.prepare('delete from blob_garbage where file = ?');
    const checkRoom = quotaOf(database);
    return {
      /** The answer is recorded: content that is not named there is not used. */
      put(target: TenantBlob, blob: StoredBlob, now: number, quota: number): NamedBlob {
        const { tenant, bucket, key } = target;
        const before = blobOf(find.get(tenant, bucket, key));
        checkRoom(tenant, blob.bytes - (before?.bytes ?? -OBJECT_OVERHEAD_BYTES), quota);
        save.run(tenant, bucket, key, blob.file, blob.bytes, blob.contentType);
        const named = { file: blob.file, bytes: blob.bytes };
        if (!before) return named;
        discard.run(before.file, now);
        return { ...named, replaced: before.file };
      },
      /** Answers the file that held the content, or null when there was none. */
      delete({ tenant, bucket, key }: TenantBlob, now: number): string | null {
        const before = blobOf(find.get(tenant, bucket, key));
        if (before === null) return null;
        remove.run(tenant, bucket, key);
        discard.run(before.file, now);
        return before.file;
      },
      forget: (files: readonly string[]): void => files.forEach((file) => void forget.run(file)),
    };
  },
});

function quotaOf(database: DatabaseSync) {
  const used = database.prepare(`select bytes from usage where area = 'blobs' and tenant = ?`);
  return (tenant: string, growth: number, quota: number): void => {
    if (growth > 0 && Number(used.get(tenant)?.bytes ?? 0) + growth > quota)
      throw new Refusal('blob_quota_exhausted', { details: { quotaBytes: quota } });
  };
}
