import type { DatabaseSync } from 'node:sqlite';
import { atRest, hashOf, referenceTo } from '../blob.ts';
import { queriesOn } from './rows.ts';

export interface BlobWrites {
  /** Keeps `text` for `holder` if `stored` refers to it. */
  keep(holder: string, text: string, stored: string): void;
  /** Like `keep`, and returns the value of the column. */
  put(holder: string, text: string): string;
  /** The same for a text whose parts are stored. */
  putStored(holder: string, hash: string): string;
  /** Ends all uses by `holder`; blobs without another use are deleted. */
  drop(holder: string): void;
}

/** `dropParts` is called for a blob that was in parts. */
export function prepareBlobWrites(database: DatabaseSync, dropParts: (hash: string) => void): BlobWrites {
  const { one, all, run } = queriesOn(database);
  const insertBlob = run('insert into blobs (hash, body) values (?, ?) on conflict do nothing');
  const insertUse = run('insert into blob_uses (holder, hash) values (?, ?) on conflict do nothing');
  const deleteUses = all<{ hash: string }>('delete from blob_uses where holder = ? returning hash');
  const deleteUnused = one<{ isInParts: number }>(`
    delete from blobs
    where hash = ?1 and not exists (select 1 from blob_uses where hash = ?1)
    returning body is null as isInParts
  `);

  const insert = (holder: string, hash: string, body: string | null): void => {
    insertBlob(hash, body);
    insertUse(holder, hash);
  };
  const keep = (holder: string, text: string, stored: string): void => {
    if (stored !== text) insert(holder, hashOf(stored), text);
  };
  return {
    keep,
    put(holder, text) {
      const stored = atRest(text);
      keep(holder, text, stored);
      return stored;
    },
    putStored(holder, hash) {
      insert(holder, hash, null);
      return referenceTo(hash);
    },
    drop(holder) {
      for (const { hash } of deleteUses(holder)) if (deleteUnused(hash)?.isInParts) dropParts(hash);
    },
  };
}
