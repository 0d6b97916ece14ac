/** The files of an archive that a page shows. */
import { ARCHIVE_LIMITS, readArchive, readManifest, type SurfaceAsks, surfaceAsks } from '@gantry/packs';
import { type Json, OpenwopError } from '@gantry/protocol';
import type { Catalogue, PublishedVersion } from '../catalogue/catalogue.ts';

const MIB = 1024 * 1024;
/** Stricter than the limits for publishing. */
const LIMITS = { ...ARCHIVE_LIMITS, archiveBytesMax: 2 * MIB, totalBytesMax: 16 * MIB };
const README_BYTES_MAX = 64 * 1024;
const SCHEMA_BYTES_MAX = 256 * 1024;

export interface PackFiles {
  readonly readme: string | undefined;
  /** Undefined if the archive has no such JSON file. */
  json(path: string): Json | undefined;
  /** The grants that a host requests if a pack names no surface. */
  readonly surfaces: SurfaceAsks;
  /** The archive exceeds the limits of a page. */
  readonly isTooLarge: boolean;
}

const NONE: PackFiles = {
  readme: undefined,
  json: () => undefined,
  surfaces: { asks: [], unknown: ['the archive is too large for this page'] },
  isTooLarge: true,
};

export async function readPackFiles(
  catalogue: Pick<Catalogue, 'archive'>,
  version: PublishedVersion,
): Promise<PackFiles> {
  if (version.archiveBytes > LIMITS.archiveBytesMax) return NONE;
  try {
    const { files, manifestBytes } = await readArchive(catalogue.archive(version), LIMITS);
    const reading = readManifest(manifestBytes);
    const asks =
      reading.kind === 'manifest' ? surfaceAsks(reading.manifest, files) : { asks: [], unknown: [] };
    return {
      readme: files.get('README.md')?.subarray(0, README_BYTES_MAX).toString('utf8'),
      json: (path) => parse(files.get(path)),
      surfaces: asks,
      isTooLarge: false,
    };
  } catch (error) {
    // Within the limits for publishing, but not within those of a page.
    if (error instanceof OpenwopError && error.code === 'tarball_too_large') return NONE;
    throw error;
  }
}

function parse(bytes: Buffer | undefined): Json | undefined {
  if (bytes === undefined || bytes.length > SCHEMA_BYTES_MAX) return undefined;
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
