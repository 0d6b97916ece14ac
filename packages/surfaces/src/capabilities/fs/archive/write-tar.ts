import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { Unconvertible } from '../convert/task.ts';
import type { ArchiveFile } from './contents.ts';
import { ARCHIVE_BYTES_MAX, unpackedBytesMax } from './limits.ts';

export async function writeTar(files: readonly ArchiveFile[]): Promise<Buffer> {
  // Here and not above: loading it takes 30 ms, and most tasks do without
  const { pack } = await import('tar-stream');
  const tar = pack();
  for (const { path, bytes } of files) {
    const header = { name: path, type: 'file', mode: 0o644, uid: 0, gid: 0, mtime: new Date(0) } as const;
    tar.entry(header, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  }
  tar.finalize();
  return buffer(tar);
}

/** Byte 9 of gzip says which system packed; 255 says nothing, so that all systems give the same bytes. */
const GZIP_OS_OFFSET = 9;
const GZIP_OS_UNKNOWN = 0xff;

export async function writeTarGz(files: readonly ArchiveFile[]): Promise<Buffer> {
  const tar = await writeTar(files);
  if (tar.byteLength > ARCHIVE_BYTES_MAX)
    throw new Unconvertible(
      `The tar file would have more than ${ARCHIVE_BYTES_MAX} bytes before it is compressed.`,
      'file_too_large',
    );
  const packed = gzipSync(tar);
  // Readers, ours among them, would take it for a bomb
  const isBomb = tar.byteLength > unpackedBytesMax(packed.byteLength);
  const bytes = isBomb ? gzipSync(tar, { level: 0 }) : packed;
  bytes[GZIP_OS_OFFSET] = GZIP_OS_UNKNOWN;
  return bytes;
}
