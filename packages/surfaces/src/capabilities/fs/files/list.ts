/**
 * Lists what is on disk, in the byte order of paths. A folder is read in pieces, of which only one page is kept:
 * reading and sorting 50,000 names at once blocked the loop for 104 ms.
 */
import type { Dirent } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import type { FileEntry, FileRange } from '../../../ports/files.ts';
import { explain, type Folder, isAbsent, LinkFound } from './folder.ts';
import { isPlainPath, plainPrefix } from './path.ts';
import { walk, within } from './root.ts';

const DEPTH_MAX = 32;

export async function listFiles(root: string, range: FileRange): Promise<FileEntry[]> {
  const { folders, start } = plainPrefix(range.prefix);
  const path = folders.map((name) => `${name}/`).join('');
  const found: FileEntry[] = [];
  try {
    await within(await walk(root, folders), async (folder) => {
      for await (const entry of entriesIn(folder, { path, start, depth: folders.length }, range)) {
        found.push(entry);
        if (found.length === range.limit) return;
      }
    });
  } catch (error) {
    if (!isAbsent(error)) throw error;
  }
  return found;
}

interface Level {
  /** Of the folder; ends with a slash unless it is the root. */
  readonly path: string;
  /** A prefix of the names. */
  readonly start: string;
  readonly depth: number;
}

async function* entriesIn(folder: Folder, level: Level, range: FileRange): AsyncGenerator<FileEntry> {
  for (let past: Buffer | null = null; ; ) {
    const names: readonly Name[] = await nextNames(folder, { level, range, past });
    for (const { name, path, isFolder } of names) {
      if (!isFolder) yield* fileAt(folder, name, path);
      else if (!range.recursive) yield { path, sizeBytes: 0, isDirectory: true };
      else if (level.depth < DEPTH_MAX)
        yield* below(folder, name, { path, start: '', depth: level.depth + 1 }, range);
    }
    if (names.length < range.limit) return;
    past = names.at(-1)!.order;
  }
}

async function* below(
  folder: Folder,
  name: string,
  level: Level,
  range: FileRange,
): AsyncGenerator<FileEntry> {
  const next = await folder.enter(name).catch(goneFrom(level.path));
  if (next === null) return;
  try {
    yield* entriesIn(next, level, range);
  } finally {
    await next.close();
  }
}

/** Links, special files and files with several hard links are never listed. */
async function* fileAt(folder: Folder, name: string, path: string): AsyncGenerator<FileEntry> {
  const seen = await lstat(folder.at(name)).catch(goneFrom(path));
  if (seen?.isFile() && seen.nlink === 1) yield { path, sizeBytes: seen.size, isDirectory: false };
}

/**
 * Null if the entry was deleted or became a link since its name was read. Unreadable entries are errors, not omitted.
 */
const goneFrom =
  (path: string) =>
  (error: unknown): null => {
    if (error instanceof LinkFound || isAbsent(error)) return null;
    throw explain(error, path);
  };

interface Name {
  readonly name: string;
  readonly isFolder: boolean;
  /** From the root; ends with a slash for a folder. */
  readonly path: string;
  /** The sort key within its folder. */
  readonly order: Buffer;
}

interface Wanted {
  readonly level: Level;
  readonly range: FileRange;
  /** The last name of this folder that was read. */
  readonly past: Buffer | null;
}

const NAMES_AT_ONCE = 256;

async function nextNames(folder: Folder, wanted: Wanted): Promise<Name[]> {
  const { limit } = wanted.range;
  const first: Name[] = [];
  for await (const piece of piecesOf(folder.at()))
    for (const entry of piece) {
      const name = nameOf(entry, wanted);
      const last = first.length === limit ? first.at(-1) : undefined;
      if (name === null || (last && Buffer.compare(name.order, last.order) > 0)) continue;
      if (!isPlainPath(name.path)) continue;
      first.splice(indexFor(name, first), 0, name);
      if (first.length > limit) first.pop();
    }
  return first;
}

async function* piecesOf(path: string): AsyncGenerator<Dirent[]> {
  const folder = await opendir(path, { bufferSize: NAMES_AT_ONCE });
  try {
    for (let entry = await folder.read(); entry !== null; entry = await folder.read()) {
      const piece = [entry];
      // One read buffers many names, and the rest are in memory: a promise for each would double the time
      for (let next = folder.readSync(); next !== null; next = folder.readSync()) {
        piece.push(next);
        if (piece.length === NAMES_AT_ONCE) break;
      }
      yield piece;
    }
  } finally {
    await folder.close();
  }
}

function nameOf(entry: Dirent, { level, range, past }: Wanted): Name | null {
  const { name } = entry;
  const isFolder = entry.isDirectory();
  if (!isFolder && !entry.isFile()) return null;
  if (!name.startsWith(level.start) || (!range.hidden && name.startsWith('.'))) return null;
  const key = isFolder ? `${name}/` : name;
  const path = `${level.path}${key}`;
  const order = Buffer.from(key);
  const isNext = past === null ? isAfter({ path, isFolder }, range) : Buffer.compare(order, past) > 0;
  return isNext ? { name, isFolder, path, order } : null;
}

/** A folder that contains the cursor is entered again, but not listed again. */
function isAfter(
  { path, isFolder }: Pick<Name, 'path' | 'isFolder'>,
  { after, recursive }: FileRange,
): boolean {
  if (after === null) return true;
  if (isFolder && after.startsWith(path)) return recursive || path !== after;
  return Buffer.compare(Buffer.from(path), Buffer.from(after)) > 0;
}

function indexFor({ order }: Name, names: readonly Name[]): number {
  let [from, to] = [0, names.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (Buffer.compare(names[middle]!.order, order) < 0) from = middle + 1;
    else to = middle;
  }
  return from;
}
