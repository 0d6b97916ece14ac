/**
 * The quota for the folder of a pack.
 *
 * I1 Changes of one folder are serialized, so that no two of them pass the same check.
 * I2 The size of a folder is counted once and then updated. During a change, and after a change of unknown
 *    size, it is unknown and counted again: counting 10,000 entries for each change would allow an attack.
 */
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { limiter } from '@gantry/limiter';
import { ErrorForPack } from '../result.ts';

export const ENTRIES_MAX = 10_000;
const FOLDER_BYTES_MAX = 256 * 1024 * 1024;
/** Folders whose count is remembered. */
const FOLDERS_MAX = 1_000;

export interface FolderSize {
  readonly bytes: number;
  readonly entries: number;
}

export interface Change<T> {
  /** By how much the folder grows; `undefined` for changes that only remove. */
  readonly growth: FolderSize | undefined;
  act(): Promise<T>;
}

/** In the order of last use, oldest first. */
const held = new Map<string, FolderSize>();
const changes = limiter({ max: Number.POSITIVE_INFINITY, perTenantMax: 1 });

export const tooLarge = (message: string): ErrorForPack => new ErrorForPack('file_too_large', message);

/** `prepare` sees the folder after all earlier changes. */
export const inTurn = <T>(root: string, prepare: () => Promise<Change<T>>): Promise<T> =>
  changes.run(root, async () => perform(root, await prepare()));

async function perform<T>(root: string, { growth, act }: Change<T>): Promise<T> {
  const after = growth && grown(held.get(root) ?? (await count(root)), growth);
  held.delete(root);
  const value = await act();
  if (after) remember(root, after);
  return value;
}

function grown(size: FolderSize, growth: FolderSize): FolderSize {
  const after = { bytes: size.bytes + growth.bytes, entries: size.entries + growth.entries };
  const isFull =
    (growth.bytes > 0 && after.bytes > FOLDER_BYTES_MAX) ||
    (growth.entries > 0 && after.entries > ENTRIES_MAX);
  if (!isFull) return after;
  const most = `${FOLDER_BYTES_MAX} bytes in ${ENTRIES_MAX} files and folders`;
  throw tooLarge(`The folder of the pack is full: the limit is ${most}. Remove something first.`);
}

function remember(root: string, size: FolderSize): void {
  held.set(root, size);
  const [oldest] = held.keys();
  if (held.size > FOLDERS_MAX && oldest !== undefined) held.delete(oldest);
}

async function count(root: string): Promise<FolderSize> {
  const entries = await readdir(root, { withFileTypes: true, recursive: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(
    files.map(async (file) => (await stat(path.join(file.parentPath, file.name))).size),
  );
  return { bytes: sizes.reduce((sum, size) => sum + size, 0), entries: entries.length };
}
