/**
 * Storage of archives by their hash.
 *
 * I1  `get` never reads a partial archive: it gets its final name only once it is completely on disk.
 * I2  A spooled archive is temporary until `keep`. Those of dead processes are removed at the next start.
 */
import type { Readable } from 'node:stream';

/** A received archive, under a temporary name. */
export interface SpooledArchive {
  /** SRI, as registries and lockfiles write it. */
  readonly integrity: string;
  readonly bytes: number;
  /** From the beginning; may be called repeatedly. */
  read(): Readable;
  /** Makes it available to `get`. Keeping it again renews its age. */
  keep(): Promise<void>;
  /** Removes the temporary file; a kept archive stays. */
  discard(): Promise<void>;
}

export interface StoredArchive {
  readonly integrity: string;
  readonly storedAt: number;
}

export interface ArchiveStorage {
  /** Writes a stream to disk. Throws `payload_too_large` once it is longer than `bytesMax`. */
  spool(source: AsyncIterable<Uint8Array>, bytesMax: number): Promise<SpooledArchive>;
  /** Rejects with a `StoreError` if it is absent or cannot be read. */
  get(integrity: string): Promise<Readable>;
  has(integrity: string): Promise<boolean>;
  delete(integrity: string): Promise<void>;
  list(): AsyncIterable<StoredArchive>;
  /** Creates the storage if necessary, and removes temporary files of dead processes. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

const ARCHIVE_NAME = /^([0-9a-f]{64})\.tgz$/;

/** `sha256-<base64>` contains characters that file names cannot have. */
export const nameOf = (integrity: string): string =>
  `${Buffer.from(integrity.slice('sha256-'.length), 'base64').toString('hex')}.tgz`;

export function integrityIn(name: string): string | undefined {
  const hex = ARCHIVE_NAME.exec(name)?.[1];
  return hex === undefined ? undefined : `sha256-${Buffer.from(hex, 'hex').toString('base64')}`;
}

/** Longer than any publish takes: between `keep` and its commit an archive is unreferenced. */
export const UNNAMED_AGE_MS = 3_600_000;

/**
 * Deletes unreferenced archives: of failed publishes and of unpublished versions. A publish checks again after its
 * commit, so an archive that a concurrent sweep deleted is stored again.
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
