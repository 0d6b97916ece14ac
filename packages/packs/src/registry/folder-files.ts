import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { ARCHIVE_LIMITS, archiveError } from '../archive/limits.ts';
import { isFilePath } from '../archive/path.ts';

/** Where a static registry keeps its discovery document. */
export const DISCOVERY_FILE = '.well-known/openwop-registry.json';
export const PACKS_FOLDER = 'v1/packs';

/** The root of a registry tree; `folder` is it or the folder above it. */
export async function findRoot(folder: string): Promise<string> {
  for (const root of [folder, path.join(folder, 'registry')])
    if (await readOptional(path.join(root, DISCOVERY_FILE))) return root;
  throw new Error(`${folder} is no registry tree: it has no ${DISCOVERY_FILE}`);
}

/** The file that an address of the registry means. */
export function fileInside(root: string, address: string): string {
  const relative = address.replace(/^\//, '');
  if (!isFilePath(relative)) throw new Error(`${address} is not inside the registry tree`);
  return path.join(root, relative);
}

export async function readBounded(
  file: string,
  bytesMax: number = ARCHIVE_LIMITS.archiveBytesMax,
): Promise<Buffer> {
  const { size } = await stat(file);
  if (size > bytesMax) throw archiveError('tarball_too_large', `${path.basename(file)} is too large.`);
  return await readFile(file);
}

const MISSING = new Set(['ENOENT', 'ENOTDIR', 'EISDIR']);

export async function readOptional(file: string, bytesMax?: number): Promise<Buffer | undefined> {
  try {
    return await readBounded(file, bytesMax);
  } catch (error) {
    if (error instanceof Error && 'code' in error && MISSING.has(String(error.code))) return undefined;
    throw error;
  }
}
