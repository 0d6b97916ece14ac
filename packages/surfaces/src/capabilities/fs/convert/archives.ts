/** Runs only in the converter's process: a crafted archive can take any time. */
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import type { ArchiveFile, Contents } from '../archive/contents.ts';
import { ARCHIVE_BYTES_MAX, unpackedBytesMax } from '../archive/limits.ts';
import { readTar, readTarGz } from '../archive/read-tar.ts';
import { readZip } from '../archive/read-zip.ts';
import { writeZip } from '../archive/write-zip.ts';
import type { Message } from './frame.ts';
import { type ArchiveFormat, type ArchiveTask, Unconvertible } from './task.ts';

export async function convertArchive(task: ArchiveTask, parts: readonly Uint8Array[]): Promise<Message> {
  const { read, write } = FORMATS[task.format];
  switch (task.op) {
    case 'create': {
      const files = task.paths.map((path, index) => ({ path, bytes: parts[index]! }));
      return { head: null, parts: [await write(files)] };
    }
    case 'extract': {
      const { buffer, byteOffset, byteLength } = parts[0]!;
      const { files, folders } = read(Buffer.from(buffer, byteOffset, byteLength));
      const head = { files: files.map(({ path }) => path), folders };
      return { head, parts: files.map(({ bytes }) => bytes) };
    }
  }
}

export interface Format {
  /** Throws `Unconvertible`. */
  read(bytes: Buffer): Contents;
  write(files: readonly ArchiveFile[]): Buffer | Promise<Buffer>;
}

export const FORMATS: Readonly<Record<ArchiveFormat, Format>> = {
  zip: { read: readZip, write: writeZip },
  tar: { read: readTar, write: writeTar },
  'tar-gz': { read: readTarGz, write: writeTarGz },
};

export async function writeTar(files: readonly ArchiveFile[]): Promise<Buffer> {
  // Imported here: loading it takes 30 ms, and most tasks do not need it
  const { pack } = await import('tar-stream');
  const tar = pack();
  for (const { path, bytes } of files) {
    const header = { name: path, type: 'file', mode: 0o644, uid: 0, gid: 0, mtime: new Date(0) } as const;
    tar.entry(header, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  }
  tar.finalize();
  return buffer(tar);
}

/** Byte 9 of gzip is the operating system; 255 means unknown, so that all systems write the same bytes. */
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
  // Readers, including ours, would refuse it as a bomb
  const isBomb = tar.byteLength > unpackedBytesMax(packed.byteLength);
  const bytes = isBomb ? gzipSync(tar, { level: 0 }) : packed;
  bytes[GZIP_OS_OFFSET] = GZIP_OS_UNKNOWN;
  return bytes;
}
