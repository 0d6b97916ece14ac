import { atRest, hashOf, referenceTo } from '../blob.ts';
import { endUploads, type Uploads } from './body-parts.ts';
import { rowsAs, type Tx } from './sql.ts';

/** The blobs that one transaction stores and releases. */
export interface BlobChanges {
  /** Returns the value of the column. If it refers to a blob, the blob is kept for `holder`. */
  put(holder: string, text: string): string;
  /** The same for a text that is already uploaded. */
  putUploaded(holder: string, hash: string): string;
  /** Releases all earlier blobs of `holder`. */
  drop(holder: string): void;
  flush(): Promise<void>;
}

/** Exactly one of the two is null. */
interface Blob {
  readonly hash: string;
  readonly body: string | null;
  readonly upload: string | null;
}

const NO_UPLOADS: Uploads = { byHash: new Map(), used: new Set() };

export function collectBlobChanges(tx: Tx, uploads: Uploads = NO_UPLOADS): BlobChanges {
  const kept = new Map<string, Blob>();
  const uses: { holder: string; hash: string }[] = [];
  const dropped: string[] = [];
  const keep = (holder: string, blob: Blob): string => {
    kept.set(blob.hash, blob);
    uses.push({ holder, hash: blob.hash });
    return referenceTo(blob.hash);
  };
  return {
    put(holder, text) {
      const stored = atRest(text);
      return stored === text ? text : keep(holder, { hash: hashOf(stored), body: text, upload: null });
    },
    putUploaded: (holder, hash) => keep(holder, { hash, body: null, upload: uploads.byHash.get(hash)! }),
    drop: (holder) => void dropped.push(holder),
    async flush() {
      const orphaned = dropped.length > 0 ? await deleteUses(tx, dropped) : [];
      if (uses.length > 0) await insertBlobs(tx, [...kept.values()], uses, uploads.used);
      if (orphaned.length > 0) await deleteUnused(tx, orphaned);
    },
  };
}

async function deleteUses(tx: Tx, holders: readonly string[]): Promise<string[]> {
  const rows = await tx<{ hash: string }[]>`
    delete from blob_uses where holder = any(${[...holders]}) returning hash
  `;
  return rows.map((row) => row.hash);
}

/**
 * The conflict clause locks the existing row, so that it is not deleted as unused before this commits. Each body is
 * a separate parameter: sent as JSON, like other rows, 1 MiB takes both sides 6 ms more.
 */
async function insertBlobs(
  tx: Tx,
  blobs: readonly Blob[],
  uses: readonly object[],
  used: Set<string>,
): Promise<void> {
  const rows = await tx<{ upload: string | null }[]>`
    insert into blobs ${tx(blobs.toSorted((a, b) => (a.hash < b.hash ? -1 : 1)))}
    on conflict (hash) do update set hash = excluded.hash
    returning upload
  `;
  await tx`
    insert into blob_uses (holder, hash)
    select holder, hash from ${rowsAs(tx, 'r', uses, 'holder text, hash text')}
    on conflict do nothing
  `;
  const uploads = new Set(blobs.map(({ upload }) => upload));
  for (const { upload } of rows) if (upload !== null && uploads.has(upload)) used.add(upload);
  if (used.size > 0) await endUploads(tx, [...used]);
}

/**
 * Locks the rows first. A separate statement then sees the uses that earlier lock holders have added. Parts are
 * deleted with their blob.
 */
async function deleteUnused(tx: Tx, hashes: readonly string[]): Promise<void> {
  await tx`select 1 from blobs where hash = any(${[...hashes]}) order by hash for update`;
  await tx`
    with gone as (
      delete from blobs
      where hash = any(${[...hashes]})
        and not exists (select 1 from blob_uses where blob_uses.hash = blobs.hash)
      returning upload
    )
    delete from blob_parts where upload in (select upload from gone)
  `;
}
