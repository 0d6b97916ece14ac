import { atRest, hashOf } from '../blob.ts';
import { rowsJson, type Tx } from './sql.ts';

/** What one transaction keeps and lets go of. */
export interface BlobChanges {
  /** Answers what the column holds; the blob is kept for `holder` if there is one. */
  put(holder: string, text: string): string;
  /** Everything `holder` used before goes. */
  drop(holder: string): void;
  flush(): Promise<void>;
}

export function collectBlobChanges(tx: Tx): BlobChanges {
  const bodies = new Map<string, string>();
  const uses: { holder: string; hash: string }[] = [];
  const dropped: string[] = [];
  return {
    put(holder, text) {
      const stored = atRest(text);
      if (stored !== text) {
        bodies.set(hashOf(stored), text);
        uses.push({ holder, hash: hashOf(stored) });
      }
      return stored;
    },
    drop: (holder) => void dropped.push(holder),
    async flush() {
      const orphaned = dropped.length > 0 ? await deleteUses(tx, dropped) : [];
      if (uses.length > 0) await insertBlobs(tx, bodies, uses);
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
 * The conflict clause locks the existing row, so that it is not deleted as unused before this commits. Each body is a
 * parameter of its own: inside of JSON, as other rows are, 1 MiB takes both sides 6 ms more.
 */
async function insertBlobs(tx: Tx, bodies: Map<string, string>, uses: readonly object[]): Promise<void> {
  const rows = [...bodies].map(([hash, body]) => ({ hash, body })).sort((a, b) => (a.hash < b.hash ? -1 : 1));
  await tx`
    insert into blobs ${tx(rows)}
    on conflict (hash) do update set hash = excluded.hash
  `;
  await tx`
    insert into blob_uses (holder, hash)
    select holder, hash from json_to_recordset(${rowsJson(uses)}::text::json) as r (holder text, hash text)
    on conflict do nothing
  `;
}

/** First the locks, then a statement of its own, which sees the uses that other holders of the locks have added. */
async function deleteUnused(tx: Tx, hashes: readonly string[]): Promise<void> {
  await tx`select 1 from blobs where hash = any(${[...hashes]}) order by hash for update`;
  await tx`
    delete from blobs
    where hash = any(${[...hashes]})
      and not exists (select 1 from blob_uses where blob_uses.hash = blobs.hash)
  `;
}
