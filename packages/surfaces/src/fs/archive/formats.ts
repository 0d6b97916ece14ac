import type { ArchiveFormat } from '../convert/task.ts';
import type { ArchiveFile, Contents } from './contents.ts';
import { readTar, readTarGz } from './read-tar.ts';
import { readZip } from './read-zip.ts';
import { writeTar, writeTarGz } from './write-tar.ts';
import { writeZip } from './write-zip.ts';

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
