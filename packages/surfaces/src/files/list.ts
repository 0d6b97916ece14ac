/** Listings in the byte order of paths. Folders before the cursor are not entered, so a page costs its own length. */
import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import type { FileEntry, FileRange } from '../ports/files.ts';
import { codeOf } from './errors.ts';
import { type Folder, LinkFound } from './folder.ts';
import { isPlainName, plainPrefix } from './path.ts';
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
    if (!['ENOENT', 'ENOTDIR'].includes(codeOf(error))) throw error;
  }
  return found;
}

interface Level {
  /** Of the folder; ends with a slash unless it is the root. */
  readonly path: string;
  /** Of the names. */
  readonly start: string;
  readonly depth: number;
}

async function* entriesIn(folder: Folder, level: Level, range: FileRange): AsyncGenerator<FileEntry> {
  const { after } = range;
  for (const { key, name, isFolder } of await namesIn(folder, level.start, range.hidden)) {
    const path = `${level.path}${key}`;
    if (after !== null && !comesAfter(path, after) && !(isFolder && after.startsWith(path))) continue;
    if (!isFolder) yield* fileAt(folder, name, path);
    else if (!range.recursive) {
      if (path !== after) yield { path, sizeBytes: 0, isDirectory: true };
    } else if (level.depth < DEPTH_MAX) {
      yield* below(folder, name, { path, start: '', depth: level.depth + 1 }, range);
    }
  }
}

async function* below(
  folder: Folder,
  name: string,
  level: Level,
  range: FileRange,
): AsyncGenerator<FileEntry> {
  const next = await folder.enter(name).catch(gone);
  if (next === null) return;
  try {
    yield* entriesIn(next, level, range);
  } finally {
    await next.close();
  }
}

/** Links, special files and files with other names are not there for anyone. */
async function* fileAt(folder: Folder, name: string, path: string): AsyncGenerator<FileEntry> {
  const seen = await lstat(folder.at(name)).catch(gone);
  if (seen?.isFile() && seen.nlink === 1) yield { path, sizeBytes: seen.size, isDirectory: false };
}

/** What went, or became a link, since its name was read. */
function gone(error: unknown): null {
  if (error instanceof LinkFound || ['ENOENT', 'ENOTDIR', 'EACCES'].includes(codeOf(error))) return null;
  throw error;
}

async function namesIn(folder: Folder, start: string, hidden: boolean) {
  const isWanted = ({ name }: Dirent): boolean =>
    name.startsWith(start) && (hidden || !name.startsWith('.')) && isPlainName(name);
  return (await readdir(folder.at(), { withFileTypes: true }))
    .filter((entry) => (entry.isFile() || entry.isDirectory()) && isWanted(entry))
    .map((entry) => {
      const isFolder = entry.isDirectory();
      return { name: entry.name, isFolder, key: isFolder ? `${entry.name}/` : entry.name };
    })
    .map((entry) => ({ ...entry, order: Buffer.from(entry.key) }))
    .sort((a, b) => Buffer.compare(a.order, b.order));
}

const comesAfter = (path: string, after: string): boolean =>
  Buffer.compare(Buffer.from(path), Buffer.from(after)) > 0;
