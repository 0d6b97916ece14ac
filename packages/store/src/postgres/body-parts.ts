/**
 * Each part of a large body is stored by a statement of its own, before the commit that uses it.
 *
 * I1  Each time a body is stored is an upload of its own, so processes that store the same body do not meet before they
 *     commit: one of the uploads becomes the blob, the others are deleted.
 * I2  `blob_uploads` has the uploads that no blob has. A row is stored with the first part, and deleted in the commit that
 *     uses the upload, or with the parts. A part is added only while the row is there.
 * I3  Uploads of processes that died are deleted by a sweep after an hour; no commit takes as long.
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
  /** Those that became blobs. */
  readonly used: Set<string>;
}

/** Stores bodies for as long as `commit` takes. What it does not use is deleted, unless its outcome is unknown. */
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
    // What cannot be deleted now is swept
    if (isKnown && unused.length > 0) await deleteUploads(sql, unused).catch(() => {});
  }
}

const PAUSE_MS_MAX = 50;

/**
 * I2. The commit that uses the parts waits for the log to be on the disk, and so for theirs: they need not.
 *
 * Before the next part it waits as long as the last one took, so that small commits have the server to themselves for
 * half of the time. Measured on two cores, p99 of small commits beside one writer of 1 MiB, best of nine slices: whole
 * 26 ms, in parts 34, in parts with pauses 13, without the writer 6.
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

/** In the commit that uses them. */
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
