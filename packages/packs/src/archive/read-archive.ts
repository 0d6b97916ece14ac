import { type ByteSource, Gunzip } from './gunzip.ts';
import { ARCHIVE_LIMITS, type ArchiveLimits, archiveError } from './limits.ts';
import { type ArchiveFile, archiveFiles } from './tar.ts';

export interface Archive {
  /** Paths as the manifest writes them, without a leading `./`. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** The raw entry, which `manual` signatures cover. */
  readonly manifestBytes: Buffer;
  /** SRI of the archive itself. */
  readonly integrity: string;
  readonly packedBytes: number;
}

/** A whole pack in memory; throws what the archive is refused for. */
export async function readArchive(
  source: ByteSource,
  limits: ArchiveLimits = ARCHIVE_LIMITS,
): Promise<Archive> {
  const files = new Map<string, Buffer>();
  const facts = await eachFile(source, limits, ({ path, bytes }) => {
    files.set(path, bytes);
  });
  return { files, ...facts };
}

/** Goes through an archive file by file; what `visit` throws ends the reading. */
export async function eachFile(
  source: ByteSource,
  limits: ArchiveLimits,
  visit: (file: ArchiveFile) => void | Promise<void>,
): Promise<Omit<Archive, 'files'>> {
  const gunzip = new Gunzip(source, limits);
  let manifestBytes: Buffer | undefined;
  const chunks = gunzip.chunks();
  try {
    for await (const file of archiveFiles(chunks, limits)) {
      if (file.path === 'pack.json') manifestBytes = file.bytes;
      await visit(file);
    }
  } finally {
    await chunks.return(undefined);
  }
  if (manifestBytes === undefined)
    throw archiveError('tarball_manifest_missing', 'The archive has no pack.json at its root.');
  return { manifestBytes, integrity: gunzip.integrity(), packedBytes: gunzip.packedBytes };
}
