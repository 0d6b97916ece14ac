/** Runs in the converter's process only: unpacking takes as long as whoever packed wants it to. */

import type { ArchiveFile, Contents } from '../archive/contents.ts';
import { readTar, readTarGz } from '../archive/read-tar.ts';
import { readZip } from '../archive/read-zip.ts';
import { writeTar, writeTarGz } from '../archive/write-tar.ts';
import { writeZip } from '../archive/write-zip.ts';
import type { Message } from './frame.ts';
import type { ArchiveFormat, ArchiveTask } from './task.ts';

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
