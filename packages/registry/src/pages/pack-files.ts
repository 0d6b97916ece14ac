/** The files of an archive that a page shows, read in one go. */
import { ARCHIVE_LIMITS, readArchive, readManifest, type SurfaceAsks, surfaceAsks } from '@gantry/packs';
import { type Json, OpenwopError } from '@gantry/protocol';
import type { Catalogue, PublishedVersion } from '../catalogue/catalogue.ts';

const MIB = 1024 * 1024;
/** A page is not worth unpacking everything a publisher may send. */
const LIMITS = { ...ARCHIVE_LIMITS, archiveBytesMax: 2 * MIB, totalBytesMax: 16 * MIB };
const README_BYTES_MAX = 64 * 1024;
const SCHEMA_BYTES_MAX = 256 * 1024;

export interface PackFiles {
  readonly readme: string | undefined;
  /** Undefined when the archive has no such JSON file. */
  json(path: string): Json | undefined;
  /** What a host asks for whose owner installs a pack that names no surface. */
  readonly surfaces: SurfaceAsks;
  /** The archive is larger than what is unpacked for a page. */
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
    // It was accepted under wider limits; only these of the page refuse it.
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
