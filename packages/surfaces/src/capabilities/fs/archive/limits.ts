/** Limits of archives, both read and written. */
import type { ZlibOptions } from 'node:zlib';
import { FILE_BYTES_MAX } from '../../../ports/files.ts';

/** For the archive, for the tar file inside gzip, and for the total of all files in it. */
export const ARCHIVE_BYTES_MAX = FILE_BYTES_MAX;
export const ENTRIES_MAX = 2_000;
/** The same limit as for paths of files. */
export const NAME_BYTES_MAX = 1_024;

/** Deflate expands a byte to a thousand at most; real files stay far below that. */
export const RATIO_MAX = 200;
const RATIO_FLOOR_BYTES = 1_048_576;

/** The most bytes that an archive of this size may unpack to. */
export const unpackedBytesMax = (packedBytes: number): number =>
  Math.min(ARCHIVE_BYTES_MAX, Math.max(RATIO_FLOOR_BYTES, packedBytes * RATIO_MAX));

export type Unpacked =
  | { readonly outcome: 'whole'; readonly bytes: Buffer }
  | { readonly outcome: 'too large' | 'damaged' | 'goes on' };

type Unpack = (data: Buffer, options: ZlibOptions) => unknown;

/** Unpacks all of the data, to at most `bytesMax`. Libraries ignore data after the end of a stream; this reports it. */
export function unpack(by: Unpack, data: Buffer, bytesMax: number): Unpacked {
  try {
    const made: unknown = by(data, { maxOutputLength: Math.max(bytesMax, 1), info: true });
    const { buffer, engine } = made as { buffer: Buffer; engine: { bytesWritten: number } };
    if (engine.bytesWritten < data.byteLength) return { outcome: 'goes on' };
    return { outcome: 'whole', bytes: buffer };
  } catch (error) {
    const isTooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    return { outcome: isTooLarge ? 'too large' : 'damaged' };
  }
}
