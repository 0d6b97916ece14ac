import { type ErrorCode, OpenwopError } from '@gantry/protocol';

/** Limits for reading an archive, signed or not. */
export interface ArchiveLimits {
  readonly archiveBytesMax: number;
  readonly totalBytesMax: number;
  readonly entryBytesMax: number;
  readonly entriesMax: number;
  /** Unpacked bytes per packed byte, checked above `RATIO_FLOOR_BYTES`. */
  readonly ratioMax: number;
}

const MIB = 1024 * 1024;

/** A pack.json larger than this is refused before it is parsed. */
export const MANIFEST_BYTES_MAX = 256 * 1024;

export const ARCHIVE_LIMITS: ArchiveLimits = {
  archiveBytesMax: 10 * MIB,
  totalBytesMax: 50 * MIB,
  entryBytesMax: 5 * MIB,
  entriesMax: 2000,
  ratioMax: 200,
};

/** Below this the ratio is not meaningful: an archive of small files is mostly padding. */
export const RATIO_FLOOR_BYTES = MIB;

export function archiveError(code: ErrorCode, message: string, path?: string): OpenwopError {
  const details = path === undefined ? {} : { path: path.slice(0, 256) };
  return new OpenwopError(code, { message, details });
}
