/**
 * Where archives lie, by what they hash to.
 *
 * I1  What `get` reads is whole, or it is not there: an archive appears under its hash only once all of it is on disk.
 * I2  A spooled archive is nobody's until it is kept. Those of dead processes are removed at the next start.
 */
import type { Readable } from 'node:stream';

/** An archive that arrived, under a temporary name. */
export interface SpooledArchive {
  /** SRI, as registries and lockfiles write it. */
  readonly integrity: string;
  readonly bytes: number;
  /** From its beginning, as often as it is asked for. */
  read(): Readable;
  /** Puts it where `get` finds it. Keeping what is there already renews its age. */
  keep(): Promise<void>;
  /** Removes the temporary file; what was kept stays. */
  discard(): Promise<void>;
}

export interface StoredArchive {
  readonly integrity: string;
  readonly storedAt: number;
}

export interface ArchiveStorage {
  /** Reads a stream to its end, onto disk. Throws `payload_too_large` once it is longer than `bytesMax`. */
  spool(source: AsyncIterable<Uint8Array>, bytesMax: number): Promise<SpooledArchive>;
  /** Rejects with a `StoreError` when it is not there or cannot be read. */
  get(integrity: string): Promise<Readable>;
  has(integrity: string): Promise<boolean>;
  delete(integrity: string): Promise<void>;
  list(): AsyncIterable<StoredArchive>;
  /** Makes the place if need be, and removes what dead processes left under temporary names. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

const ARCHIVE_NAME = /^([0-9a-f]{64})\.tgz$/;

/** `sha256-<base64>` has signs that names of files cannot have. */
export const nameOf = (integrity: string): string =>
  `${Buffer.from(integrity.slice('sha256-'.length), 'base64').toString('hex')}.tgz`;

export function integrityIn(name: string): string | undefined {
  const hex = ARCHIVE_NAME.exec(name)?.[1];
  return hex === undefined ? undefined : `sha256-${Buffer.from(hex, 'hex').toString('base64')}`;
}

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
