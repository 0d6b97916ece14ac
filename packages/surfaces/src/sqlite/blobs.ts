/** The stored objects, and the file with the content of each. `blob/content-files.ts` manages the files. */
import { boundsOf, type KeyBounds } from '../capabilities/kv/key-range.ts';
import { type BlobEntry, type BlobRange, OBJECT_OVERHEAD_BYTES, type TenantBlob } from '../ports/blobs.ts';
import { Refusal } from '../refusal.ts';
import { ABOVE_TEXT } from './kv.ts';
import { defineArea, LIMIT, type Sql, usedBytes } from './statements.ts';

export interface StoredBlob {
  readonly file: string;
  readonly bytes: number;
  readonly contentType: string | null;
}

/** The recorded answer of a put. */
export interface NamedBlob {
  readonly file: string;
  readonly bytes: number;
  /** The file that held the previous content. */
  readonly replaced?: string;
}

/** Exported to test its query plan. */
export const listFrom = (operator: KeyBounds['operator']): string => `
  select key, bytes as sizeBytes from blobs
  where tenant = ? and bucket = ? and key ${operator} ? and key < ? order by key ${LIMIT}
`;

const find = (sql: Sql, { tenant, bucket, key }: TenantBlob) => sql.get<StoredBlob>`
  select file, bytes, content_type as contentType from blobs
  where tenant = ${tenant} and bucket = ${bucket} and key = ${key}
`;

const discard = (sql: Sql, file: string, now: number): unknown =>
  sql.run`insert or ignore into blob_garbage values (${file}, ${now})`;

export const blobArea = defineArea({
  reads: (sql) => ({
    get: (target: TenantBlob): StoredBlob | null => find(sql, target) ?? null,
    list(tenant: string, { bucket, limit, ...page }: BlobRange): BlobEntry[] {
      const { from, operator, end } = boundsOf(page);
      return sql.select(listFrom(operator), [tenant, bucket, from, end ?? ABOVE_TEXT, limit]);
    },
    isNamed: (file: string): boolean => sql.number`select 1 from blobs where file = ${file}` === 1,
    garbage: (before: number, limit: number): string[] =>
      sql.all<{ file: string }>`
        select file from blob_garbage where since < ${before} order by since limit ${limit} + 0
      `.map(({ file }) => file),
  }),
  writes: (sql) => ({
    /** The answer is recorded, so content that it does not name is not used. */
    put(target: TenantBlob, blob: StoredBlob, now: number, quotaBytes: number): NamedBlob {
      const { tenant, bucket, key } = target;
      const { file, bytes, contentType } = blob;
      const before = find(sql, target);
      const growth = bytes - (before?.bytes ?? -OBJECT_OVERHEAD_BYTES);
      if (growth > 0 && usedBytes(sql, 'blobs', tenant) + growth > quotaBytes)
        throw new Refusal('blob_quota_exhausted', { details: { quotaBytes } });
      sql.run`
        insert into blobs (tenant, bucket, key, file, bytes, content_type)
        values (${tenant}, ${bucket}, ${key}, ${file}, ${bytes}, ${contentType})
        on conflict do update set file = excluded.file, bytes = excluded.bytes, content_type = excluded.content_type
      `;
      if (!before) return { file, bytes };
      discard(sql, before.file, now);
      return { file, bytes, replaced: before.file };
    },
    /** Answers the file that held the content, or null if the object did not exist. */
    delete(target: TenantBlob, now: number): string | null {
      const { tenant, bucket, key } = target;
      const before = find(sql, target);
      if (!before) return null;
      sql.run`delete from blobs where tenant = ${tenant} and bucket = ${bucket} and key = ${key}`;
      discard(sql, before.file, now);
      return before.file;
    },
    forget(files: readonly string[]): void {
      for (const file of files) sql.run`delete from blob_garbage where file = ${file}`;
    },
  }),
});
