import type { DatabaseSync } from 'node:sqlite';
import { atRest, hashOf } from '../blob.ts';
import { selectAll } from './rows.ts';

export interface BlobWrites {
  /** Keeps `text` for `holder` when `stored` refers to it. */
  keep(holder: string, text: string, stored: string): void;
  /** `keep` and answer what the column holds, in one. */
  put(holder: string, text: string): string;
  /** Ends all uses by `holder`; blobs without another use are deleted. */
  drop(holder: string): void;
}

export function prepareBlobWrites(database: DatabaseSync): BlobWrites {
  const insertBlob = database.prepare('insert into blobs (hash, body) values (?, ?) on conflict do nothing');
  const insertUse = database.prepare(
    'insert into blob_uses (holder, hash) values (?, ?) on conflict do nothing',
  );
  const deleteUses = database.prepare('delete from blob_uses where holder = ? returning hash');
  const deleteUnused = database.prepare(`
    delete from blobs
    where hash = ?1 and not exists (select 1 from blob_uses where hash = ?1)
  `);

  const keep = (holder: string, text: string, stored: string): void => {
    if (stored === text) return;
    insertBlob.run(hashOf(stored), text);
    insertUse.run(holder, hashOf(stored));
  };
  return {
    keep,
    put(holder, text) {
      const stored = atRest(text);
      keep(holder, text, stored);
      return stored;
    },
    drop(holder) {
      for (const { hash } of selectAll<{ hash: string }>(deleteUses, holder)) deleteUnused.run(hash);
    },
  };
}
