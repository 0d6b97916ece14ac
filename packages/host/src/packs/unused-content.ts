/**
 * Deletes content of packs that no tenant has installed and no run is pinned to. Unused content is deleted by a later
 * sweep, at least an hour after it was found: a run that was being created meanwhile exists by then. The commit of an
 * install expects the entry, so an install never loses content that it found.
 */
import { everyRecord, type Stored } from '@gantry/resources';
import type { Store } from '@gantry/store';
import type { CodeFolders } from './code-folders.ts';
import { packs, packVersions, type VersionRecord } from './pack-record.ts';
import { pinsOf } from './workflow-pins.ts';

const UNUSED_MS = 3_600_000;

export interface UnusedContentOptions {
  readonly store: Pick<Store, 'commit' | 'entries' | 'records'>;
  readonly folders: CodeFolders;
  readonly now: () => number;
}

/** A sweep returns the number of deleted archives. */
export function unusedContent({ store, folders, now }: UnusedContentOptions): () => Promise<number> {
  /** When this process first found it unused, by integrity. */
  let unusedSince: ReadonlyMap<string, number> = new Map();

  async function remove({ kind, tenant, id, version, record }: Stored<VersionRecord>): Promise<boolean> {
    const [result] = await store.commit([
      [
        { kind: 'deleteEntry', key: { kind: kind.kind, tenant, id }, expectedVersion: version },
        { kind: 'deleteContent', hash: id },
      ],
    ]);
    if (result?.won) await folders.remove({ ...record, integrity: id });
    return result?.won ?? false;
  }

  return async () => {
    const at = now();
    const unused = await findUnused(store);
    const since = unusedSince;
    unusedSince = new Map(unused.map(({ id }) => [id, since.get(id) ?? at]));
    let deleted = 0;
    for (const version of unused)
      if (at - (since.get(version.id) ?? at) >= UNUSED_MS && (await remove(version))) deleted += 1;
    return deleted;
  };
}

/** Runs are read only if some content is not installed. */
async function findUnused({
  entries,
  records,
}: UnusedContentOptions['store']): Promise<Stored<VersionRecord>[]> {
  const installed = new Set<string>();
  for await (const { record } of everyRecord(entries, packs)) installed.add(record.integrity);
  const leftOver: Stored<VersionRecord>[] = [];
  for await (const each of everyRecord(entries, packVersions))
    if (!installed.has(each.id)) leftOver.push(each);
  if (leftOver.length === 0) return [];
  const pinned = new Set<string>();
  for (const hash of await records.pinnedHashes())
    for (const { integrity } of await pinsOf(records, hash)) pinned.add(integrity);
  return leftOver.filter(({ id }) => !pinned.has(id));
}
