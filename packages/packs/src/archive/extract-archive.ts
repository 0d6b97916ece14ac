import { randomUUID } from 'node:crypto';
import { lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { ARCHIVE_LIMITS, archiveError } from './limits.ts';
import { type Archive, type ArchiveFile, type ByteSource, eachFile } from './read-archive.ts';

export interface ExtractOptions {
  /** A folder named after the integrity that does not exist yet; its parent exists. */
  readonly target: string;
  /** The required hash of the archive, checked before anything appears at `target`. */
  readonly integrity: string;
}

/** The suffix of unfinished extractions, which may be removed while none is running. */
export const PARTIAL = '.partial';

export interface Extraction extends Omit<Archive, 'files'> {
  /** `present`: another process created the same target first, and it was not changed. */
  readonly outcome: 'extracted' | 'present';
}

/**
 * Unpacks into a sibling of the target, then renames it. The target is always complete or absent, even after a
 * crash, and one of two concurrent extractions wins.
 */
export async function extractArchive(source: ByteSource, options: ExtractOptions): Promise<Extraction> {
  const partial = `${options.target}.${randomUUID()}${PARTIAL}`;
  await mkdir(partial, { mode: 0o700 });
  try {
    const facts = await eachFile(source, ARCHIVE_LIMITS, (file) => writeFile(partial, file));
    if (facts.integrity !== options.integrity)
      throw archiveError('pack_integrity_failure', 'The archive is not the one that was published.');
    return { ...facts, outcome: await moveInto(partial, options.target) };
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

async function writeFile(folder: string, file: ArchiveFile): Promise<void> {
  const destination = path.join(folder, file.path);
  await mkdir(path.dirname(destination), { recursive: true, mode: 0o755 });
  // Exclusive: no existing link is followed, and a duplicate name fails.
  await using handle = await open(destination, 'wx', 0o644);
  await handle.writeFile(file.bytes);
  await handle.sync();
}

async function moveInto(partial: string, target: string): Promise<Extraction['outcome']> {
  try {
    await rename(partial, target);
  } catch (error) {
    if (isTaken(error) && (await lstat(target)).isDirectory()) return 'present';
    throw error;
  }
  await syncFolder(path.dirname(target));
  return 'extracted';
}

/** A new name is durable once its folder is synced. Windows cannot sync folders, and does not need to. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  await using handle = await open(folder, 'r');
  await handle.sync();
}

const TAKEN = new Set(['ENOTEMPTY', 'EEXIST', 'EPERM']);
const isTaken = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && TAKEN.has(String(error.code));
