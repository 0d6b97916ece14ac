/** How much is taken of an archive, whoever made it. What is written here stays within the same. */
import { FILE_BYTES_MAX } from '../../ports/files.ts';

/** Of the archive, of the tar file inside of gzip, and of all files in it together. */
export const ARCHIVE_BYTES_MAX = FILE_BYTES_MAX;
/** Files and folders. */
export const ENTRIES_MAX = 2_000;
/** As paths of files have it. */
export const NAME_BYTES_MAX = 1_024;

/** Deflate makes a thousand bytes of one at most; what people keep is far from that. */
export const RATIO_MAX = 200;
const RATIO_FLOOR_BYTES = 1_048_576;

/** What so many bytes may unpack to. */
export const unpackedBytesMax = (packedBytes: number): number =>
  Math.min(ARCHIVE_BYTES_MAX, Math.max(RATIO_FLOOR_BYTES, packedBytes * RATIO_MAX));
