import { ByteQueue } from './byte-queue.ts';
import { type ArchiveLimits, archiveError, MANIFEST_BYTES_MAX } from './limits.ts';
import { Names } from './names.ts';
import { BLOCK_BYTES, readTarHeader, type TarHeader } from './tar-header.ts';

export interface ArchiveFile {
  readonly path: string;
  readonly bytes: Buffer;
}

const failed = (message: string) => archiveError('tarball_tar_parse_failed', message);

/**
 * The files of an unpacked archive, one in memory at a time. Our own reader, since libraries resolve extended
 * headers silently and go on after the end marker: two readers could then see two packs in one archive.
 */
export async function* archiveFiles(
  chunks: AsyncIterable<Uint8Array>,
  limits: ArchiveLimits,
): AsyncGenerator<ArchiveFile> {
  const queue = new ByteQueue(chunks);
  const names = new Names();
  for (let count = 0; ; count++) {
    const block = await queue.take(BLOCK_BYTES);
    if (block.every((byte) => byte === 0)) return await refuseRest(queue);
    if (count >= limits.entriesMax)
      throw archiveError('tarball_too_large', `The archive has more than ${limits.entriesMax} entries.`);
    const header = readTarHeader(block);
    const path = names.add(header.path, header.type);
    if (header.type === 'directory') continue;
    refuseSize(header, path, limits);
    yield { path, bytes: await queue.take(header.size) };
    const padding = await queue.take(-header.size & (BLOCK_BYTES - 1));
    if (padding.some((byte) => byte !== 0)) throw failed('Something hides between two files of the archive.');
  }
}

function refuseSize({ size }: TarHeader, path: string, { entryBytesMax }: ArchiveLimits): void {
  if (path === 'pack.json' && size > MANIFEST_BYTES_MAX)
    throw archiveError('tarball_manifest_too_large', `pack.json is over ${MANIFEST_BYTES_MAX} bytes.`);
  if (size > entryBytesMax)
    throw archiveError('tarball_entry_too_large', `${path} is over ${entryBytesMax} bytes.`, path);
}

async function refuseRest(queue: ByteQueue): Promise<void> {
  for await (const chunk of queue.rest())
    if (chunk.some((byte) => byte !== 0)) throw failed('Something follows the end of the archive.');
}
