/**
 * Objects in PostgreSQL. Content is stored in chunks, so that neither a statement nor this process holds a
 * whole object.
 *
 * I1  Content is written before the row that names it, and never changed: a reader sees the content of one put.
 * I2  Content that no row names is deleted at once, unless it is being sent or read by a link: each chunk then
 *     extends its `keep_until`. The sweep deletes it later.
 */

import { Readable } from 'node:stream';
import { OpenwopError } from '@gantry/protocol';
import type { ObjectStore } from '../capabilities/blob/hosted-blobs.ts';
import { boundsOf } from '../capabilities/kv/key-range.ts';
import { type BlobEntry, type BlobRange, OBJECT_OVERHEAD_BYTES, type TenantBlob } from '../ports/blobs.ts';
import { bytesFor, type QuotaOf } from '../quotas.ts';
import { Refusal } from '../refusal.ts';
import type { PostgresDatabase, Sql, Tx } from './connection.ts';
import { runText } from './document-sql.ts';
import { takeTurn, usedBytes } from './usage.ts';

export interface PostgresBlobsOptions {
  /** Per tenant. */
  readonly quotaBytes: number | QuotaOf;
  readonly now: () => number;
}

interface StoredBlob {
  readonly content: number;
  readonly size: number;
  readonly contentType: string | null;
}

/** The recorded answer of a put. */
type NamedBlob = Pick<StoredBlob, 'content' | 'size'>;

const CHUNK_BYTES = 1_048_576;
const KEPT_MS = 600_000;

export function postgresObjects(
  database: PostgresDatabase,
  { quotaBytes, now }: PostgresBlobsOptions,
): ObjectStore {
  const contents = contentsIn(database, now);
  type Naming = (tx: Tx) => Promise<NamedBlob>;
  const store = async (
    target: TenantBlob,
    { body, contentType }: { readonly body: Body; readonly contentType: string | null },
    commit: (naming: Naming) => Promise<NamedBlob>,
  ): Promise<{ sizeBytes: number }> => {
    const { content, size } = await contents.add(body);
    const blob = { content, size, contentType };
    try {
      const named = await commit((tx) =>
        nameContent(tx, target, blob, { quotaBytes: bytesFor(quotaBytes, target.tenant), now: now() }),
      );
      // The recorded answer of this call names other content
      if (named.content !== content) await contents.drop(content);
      return { sizeBytes: named.size };
    } catch (error) {
      // If the answer of a commit was lost, the content is named and stays
      await contents.drop(content).catch(() => {});
      throw error;
    }
  };
  const find = async <T>(target: TenantBlob, contentOf: (blob: StoredBlob) => Promise<T | null>) =>
    untilFound(() => database.read((sql) => findBlob(sql, target)), contentOf);
  return {
    put: (target, { bytes, contentType }, call) =>
      store(target, { body: bytes, contentType }, (naming) => database.write(call, naming)),
    upload: (target, content) => store(target, content, database.upkeep),
    async get(target, makeRoom) {
      const object = await find(target, async ({ content, size }) => {
        await makeRoom?.(size);
        return wholeOf(size, (ordinal) => contents.at(content, ordinal));
      });
      return object && { bytes: object.content, contentType: object.blob.contentType };
    },
    async stream(target) {
      const object = await find(target, async ({ content, size }) =>
        size === 0 ? new Uint8Array() : contents.keptAt(content, 0),
      );
      if (object === null) return null;
      const { blob, content: first } = object;
      const body = Readable.from(chunksFrom(first, blob, contents.keptAt), { objectMode: false });
      return { body, sizeBytes: blob.size, contentType: blob.contentType };
    },
    delete: (target, call) => database.write(call, (tx) => remove(tx, target, now())),
    list: (tenant, range) => database.read((sql) => list(sql, tenant, range)),
    health: () => database.health(),
    // Done by `sweepPostgres`
    sweep: async () => 0,
  };
}

type Body = Uint8Array | AsyncIterable<Uint8Array>;

function contentsIn(database: PostgresDatabase, now: () => number) {
  const keepUntil = (): number => now() + KEPT_MS;
  /** Only deletes content that no row names. */
  const drop = async (content: number): Promise<void> =>
    void (await database.upkeep((tx) => tx`delete from blob_contents where id = ${content} and not named`));
  const append = async (content: number, ordinal: number, bytes: Uint8Array): Promise<void> => {
    const { count } = await database.upkeep(
      (tx) => tx`
        with kept as (update blob_contents set keep_until = ${keepUntil()} where id = ${content} returning id)
        insert into blob_chunks (content, ordinal, bytes) select id, ${ordinal}::integer, ${bytes}::bytea from kept
      `,
    );
    if (count === 0) throw tooSlow();
  };
  return {
    drop,
    /** Each chunk in its own transaction: the sender may be slow. */
    async add(body: Body): Promise<NamedBlob> {
      const content = await database.upkeep((tx) => begin(tx, keepUntil()));
      let [size, ordinal] = [0, 0];
      try {
        for await (const chunk of chunksOf(body)) {
          await append(content, ordinal++, chunk);
          size += chunk.byteLength;
        }
      } catch (error) {
        await drop(content).catch(() => {});
        throw error;
      }
      return { content, size };
    },
    at: (content: number, ordinal: number): Promise<Uint8Array | null> =>
      database.read((sql) => findChunk(sql, content, ordinal)),
    /** For slow readers: keeps the content until the next chunk is read. */
    keptAt: (content: number, ordinal: number): Promise<Uint8Array | null> =>
      database.upkeep(async (tx) => {
        await tx`update blob_contents set keep_until = ${keepUntil()} where id = ${content}`;
        return findChunk(tx, content, ordinal);
      }),
  };
}

async function begin(tx: Tx, keepUntil: number): Promise<number> {
  const [made] = await tx<{ id: number }[]>`
    insert into blob_contents (keep_until) values (${keepUntil}) returning id
  `;
  return made!.id;
}

const tooSlow = (): OpenwopError =>
  new OpenwopError('storage_unavailable', {
    message:
      'Too much time passed between two parts of the object, so what had arrived was deleted. Send it again.',
  });

/** Puts of a tenant are serialized, so that concurrent puts cannot exceed its quota. */
async function nameContent(
  tx: Tx,
  target: TenantBlob,
  { content, size, contentType }: StoredBlob,
  { quotaBytes, now }: { readonly quotaBytes: number; readonly now: number },
): Promise<NamedBlob> {
  const { tenant, bucket, key } = target;
  await takeTurn(tx, 'blobs', tenant);
  const before = await findBlob(tx, target);
  const grown = size - (before?.size ?? -OBJECT_OVERHEAD_BYTES);
  if (grown > 0 && (await usedBytes(tx, 'blobs', tenant)) + grown > quotaBytes)
    throw new Refusal('blob_quota_exhausted', { details: { quotaBytes } });
  const { count } = await tx`update blob_contents set named = true, keep_until = 0 where id = ${content}`;
  if (count === 0) throw tooSlow();
  await tx`
    insert into blobs (tenant, bucket, key, content, size, bytes, content_type)
    values (${tenant}, ${bucket}, ${key}, ${content}, ${size}, ${size + OBJECT_OVERHEAD_BYTES}, ${contentType})
    on conflict (tenant, bucket, key) do update set content = excluded.content, size = excluded.size,
      bytes = excluded.bytes, content_type = excluded.content_type
  `;
  if (before) await dropContent(tx, before.content, now);
  return { content, size };
}

async function remove(
  tx: Tx,
  { tenant, bucket, key }: TenantBlob,
  now: number,
): Promise<{ deleted: boolean }> {
  await takeTurn(tx, 'blobs', tenant);
  const [gone] = await tx<Pick<StoredBlob, 'content'>[]>`
    delete from blobs where tenant = ${tenant} and bucket = ${bucket} and key = ${key} returning content
  `;
  if (gone) await dropContent(tx, gone.content, now);
  return { deleted: gone !== undefined };
}

/** See I2. */
async function dropContent(tx: Tx, content: number, now: number): Promise<void> {
  const { count } = await tx`delete from blob_contents where id = ${content} and keep_until <= ${now}`;
  if (count === 0) await tx`update blob_contents set named = false where id = ${content}`;
}

async function findBlob(sql: Sql | Tx, { tenant, bucket, key }: TenantBlob): Promise<StoredBlob | null> {
  const [row] = await sql<StoredBlob[]>`
    select content, size, content_type as "contentType" from blobs
    where tenant = ${tenant} and bucket = ${bucket} and key = ${key}
  `;
  return row ?? null;
}

async function findChunk(sql: Sql | Tx, content: number, ordinal: number): Promise<Uint8Array | null> {
  const [row] = await sql<{ bytes: Uint8Array }[]>`
    select bytes from blob_chunks where content = ${content} and ordinal = ${ordinal}
  `;
  return row?.bytes ?? null;
}

/** A put may replace the content after its row was read; then there is a newer row. */
async function untilFound<T>(
  find: () => Promise<StoredBlob | null>,
  contentOf: (blob: StoredBlob) => Promise<T | null>,
): Promise<{ content: T; blob: StoredBlob } | null> {
  for (let last = 0; ; ) {
    const blob = await find();
    if (blob === null) return null;
    const content = await contentOf(blob);
    if (content !== null) return { content, blob };
    if (blob.content === last) throw new Error(`The content ${last} of an object is missing`);
    last = blob.content;
  }
}

/** Null when it was deleted meanwhile. */
async function wholeOf(
  size: number,
  chunkAt: (ordinal: number) => Promise<Uint8Array | null>,
): Promise<Uint8Array | null> {
  const bytes = new Uint8Array(size);
  for (let read = 0, ordinal = 0; read < size; ordinal++) {
    const chunk = await chunkAt(ordinal);
    if (chunk === null) return null;
    bytes.set(chunk, read);
    read += chunk.byteLength;
  }
  return bytes;
}

async function* chunksFrom(
  first: Uint8Array,
  { content, size }: StoredBlob,
  chunkAt: (content: number, ordinal: number) => Promise<Uint8Array | null>,
): AsyncGenerator<Uint8Array> {
  if (size > 0) yield first;
  for (let sent = first.byteLength, ordinal = 1; sent < size; ordinal++) {
    const chunk = await chunkAt(content, ordinal);
    if (chunk === null) throw new Error(`The content ${content} of an object was deleted while it was sent`);
    yield chunk;
    sent += chunk.byteLength;
  }
}

/** Splits content into chunks of `CHUNK_BYTES`, however it arrives. */
async function* chunksOf(content: Body): AsyncGenerator<Uint8Array> {
  let parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of content instanceof Uint8Array ? [content] : content)
    for (let from = 0; from < part.byteLength; ) {
      const taken = part.subarray(from, from + CHUNK_BYTES - length);
      parts.push(taken);
      from += taken.byteLength;
      length += taken.byteLength;
      if (length < CHUNK_BYTES) continue;
      yield Buffer.concat(parts);
      parts = [];
      length = 0;
    }
  if (length > 0) yield Buffer.concat(parts);
}

async function list(sql: Sql, tenant: string, { bucket, limit, ...page }: BlobRange): Promise<BlobEntry[]> {
  const { from, operator, end } = boundsOf(page);
  const text = `
    select key, size as "sizeBytes" from blobs
    where tenant = $1::text and bucket = $2::text and key ${operator} $3::text ${end === null ? '' : 'and key < $5::text'}
    order by key limit $4::bigint
  `;
  // A plain array, not the driver's result object
  return [
    ...(await runText<BlobEntry>(sql, {
      text,
      params: [tenant, bucket, from, limit, ...(end === null ? [] : [end])],
    })),
  ];
}
