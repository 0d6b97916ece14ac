import type { ArchiveStorage, StoredArchive } from './storage.ts';

/** Longer than any publish takes: one under way, also in another process, has kept its archive but not named it. */
export const UNNAMED_AGE_MS = 3_600_000;

/**
 * Deletes the archives that nothing names any more: of publishes that died or lost, and of what was unpublished.
 * A publish looks again after its commit, so an archive that is named in this very moment is put back.
 */
export async function sweepArchives(options: {
  readonly storage: Pick<ArchiveStorage, 'list' | 'delete'>;
  readonly named: () => Promise<ReadonlySet<string>>;
  readonly now: number;
}): Promise<number> {
  const { storage, named, now } = options;
  const old: StoredArchive[] = [];
  for await (const archive of storage.list()) if (now - archive.storedAt >= UNNAMED_AGE_MS) old.push(archive);
  if (old.length === 0) return 0;
  const used = await named();
  const unnamed = old.filter(({ integrity }) => !used.has(integrity));
  for (const { integrity } of unnamed) await storage.delete(integrity);
  return unnamed.length;
}
