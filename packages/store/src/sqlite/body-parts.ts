/**
 * Each part of a large body is stored in a separate transaction, so a small commit waits for at most one part.
 *
 * I1  A row of `blobs` without a body has all its parts.
 * I2  Parts are held from before the first is stored until the commit that uses them has ended. No other process
 *     shares the database, so the writer thread knows all held parts.
 * I3  Parts that have no such row and are not held were left by a dead process. The first sweep deletes them.
 */
import type { DatabaseSync } from 'node:sqlite';
import { partsOf, takeBodies } from '../body-parts.ts';
import type { CommitGroup } from '../port.ts';
import type { Channel } from './channel.ts';
import { queriesOn } from './rows.ts';
import type { Transaction } from './transaction.ts';

/** Main thread: stores the large bodies of a batch, and returns the batch with references to them. */
export async function storeParts(
  batch: readonly CommitGroup[],
  writer: BodyParts,
): Promise<readonly CommitGroup[]> {
  const { groups, bodies } = takeBodies(batch);
  const hashes = [...bodies.keys()];
  const missing = await writer.hold(hashes);
  try {
    for (const hash of missing)
      for (const [number, part] of partsOf(bodies.get(hash)!).entries()) await writer.put(hash, number, part);
  } catch (error) {
    await writer.release(hashes).catch(() => {});
    throw error;
  }
  return groups;
}

type BodyParts = Channel<{ bodies: ReturnType<typeof prepareBodyParts>['operations'] }>['parts']['bodies'];

/** The distinct hashes that a batch refers to. */
const hashesIn = (groups: readonly CommitGroup[]): Set<string> => {
  const hashes = new Set<string>();
  for (const group of groups)
    for (const write of group)
      if (write.kind === 'putEntry' && 'bodyHash' in write) hashes.add(String(write.bodyHash));
  return hashes;
};

/** Writer thread. */
export function prepareBodyParts(database: DatabaseSync, transaction: Transaction) {
  const { one, all, run } = queriesOn(database);
  const isUsed = one('select 1 from blobs where hash = ? and body is null');
  const insert = run('insert into blob_parts (hash, number, body) values (?, ?, ?) on conflict do nothing');
  const remove = run('delete from blob_parts where hash = ?');
  const unused = all<{ hash: string }>(`
    select distinct hash from blob_parts
    where not exists (select 1 from blobs where blobs.hash = blob_parts.hash and body is null)
  `);
  const held = new Map<string, number>();
  let isSwept = false;

  const drop = (hash: string): void => void (held.has(hash) || remove(hash));
  const operations = {
    /** I2. Returns the hashes to store, after deleting the parts of them that a dead process left. */
    hold(hashes: readonly string[]): string[] {
      const missing = hashes.filter((hash) => !isUsed(hash));
      missing.forEach(drop);
      for (const hash of hashes) held.set(hash, (held.get(hash) ?? 0) + 1);
      return missing;
    },
    /** Not synced: the sync of the commit that uses the part covers it, since both are in one log file. */
    put(hash: string, number: number, body: string): void {
      database.exec('pragma synchronous = normal');
      try {
        transaction(() => void insert(hash, number, body));
      } finally {
        database.exec('pragma synchronous = full');
      }
    },
    release(hashes: readonly string[]): void {
      for (const hash of hashes) {
        const others = (held.get(hash) ?? 0) - 1;
        if (others > 0) held.set(hash, others);
        else held.delete(hash);
      }
      const left = hashes.filter((hash) => !held.has(hash) && !isUsed(hash));
      if (left.length > 0) transaction(() => void left.map(drop));
    },
  };
  return {
    operations,
    /** The parts of a deleted row. */
    drop,
    /** The commit of this batch has ended. Parts that cannot be deleted now are swept after the next start. */
    releaseOf(batch: readonly CommitGroup[]): void {
      try {
        operations.release([...hashesIn(batch)]);
      } catch {}
    },
    /** I3. */
    sweep(): void {
      if (isSwept) return;
      transaction(() => {
        for (const { hash } of unused()) drop(hash);
      });
      isSwept = true;
    },
  };
}
