/**
 * Each part of a large body is stored by a separate statement, before the commit that uses it.
 *
 * I1  Each time a body is stored is a separate upload, so processes that store the same body do not conflict before
 *     they commit. One of the uploads becomes the blob; the others are deleted.
 * I2  `blob_uploads` lists the uploads that no blob uses. A row is inserted with the first part, and deleted in the
 *     commit that uses the upload, or with the parts. A part is added only while the row exists.
 * I3  Uploads of dead processes are deleted by a sweep after an hour. No commit takes that long.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { UnknownOutcomeError } from '@gantry/postgres';
import { partsOf } from '../body-parts.ts';
import { StoreError } from '../error.ts';
import type { Queryable, Sql, Tx } from './sql.ts';

/** The uploads of a commit. */
export interface Uploads {
  readonly byHash: ReadonlyMap<string, string>;
  /** The uploads that became blobs. */
  readonly used: Set<string>;
}

/** Stores bodies while `commit` runs. Unused ones are deleted afterwards, unless the outcome is unknown. */
export async function withUploads<T>(
  sql: Sql,
  bodies: ReadonlyMap<string, string>,
  commit: (uploads: Uploads) => Promise<T>,
): Promise<T> {
  const byHash = new Map([...bodies.keys()].map((hash) => [hash, randomUUID()]));
  const used = new Set<string>();
  let isKnown = true;
  try {
    for (const [hash, body] of bodies) await upload(sql, byHash.get(hash)!, partsOf(body));
    return await commit({ byHash, used });
  } catch (error) {
    isKnown = !(error instanceof UnknownOutcomeError);
    used.clear();
    throw error;
  } finally {
    const unused = [...byHash.values()].filter((each) => !used.has(each));
    // A sweep deletes the uploads if this fails
    if (isKnown && unused.length > 0) await deleteUploads(sql, unused).catch(() => {});
  }
}

const PAUSE_MS_MAX = 50;

/**
 * I2. Parts are written without waiting for the disk: the commit that uses them syncs the log, and them with it.
 *
 * Before each next part, it pauses for as long as the last one took (at most `PAUSE_MS_MAX`), so that small commits
 * have the server to themselves for about half of the time. Measured on two cores, p99 of small commits beside one
 * writer of 1 MiB, best of nine slices: whole 26 ms, in parts 34, in parts with pauses 13, without the writer 6.
 */
async function upload(sql: Sql, id: string, parts: readonly string[]): Promise<void> {
  let tookMs = 0;
  for (const [number, part] of parts.entries()) {
    if (number > 0) await sleep(Math.min(tookMs, PAUSE_MS_MAX));
    const begun = performance.now();
    const row =
      number === 0
        ? sql`insert into blob_uploads (upload) values (${id}) returning upload`
        : sql`select upload from blob_uploads where upload = ${id} for key share`;
    const { count } = await sql`
      with row as (${row})
      insert into blob_parts (upload, number, body)
      select upload, ${number}, ${part} from row, set_config('synchronous_commit', 'off', true)
    `;
    if (count !== 1) throw swept();
    tookMs = performance.now() - begun;
  }
}

/** Runs in the commit that uses them. */
export async function endUploads(tx: Tx, uploads: readonly string[]): Promise<void> {
  const { count } = await tx`delete from blob_uploads where upload = any(${[...uploads]})`;
  if (count !== uploads.length) throw swept();
}

const swept = (): StoreError =>
  new StoreError('io', 'A large body was deleted before its commit, which took more than an hour.');

async function deleteUploads(sql: Queryable, uploads: readonly string[]): Promise<void> {
  await sql`
    with gone as (delete from blob_uploads where upload = any(${[...uploads]}) returning upload)
    delete from blob_parts where upload in (select upload from gone)
  `;
}

/** I3. */
export async function sweepUploads(tx: Tx): Promise<void> {
  const old = await tx<{ upload: string }[]>`
    select upload from blob_uploads where created_at < now() - interval '1 hour' for update skip locked
  `;
  if (old.length === 0) return;
  await deleteUploads(
    tx,
    old.map(({ upload }) => upload),
  );
}
