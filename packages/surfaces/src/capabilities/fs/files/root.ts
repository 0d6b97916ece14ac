/** The folder of one workspace: reading, inspecting and walking. */
import { randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';
import { lstat, mkdir, open, rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { OpenwopError } from '@gantry/protocol';
import { codeOf } from '../../../backend-errors.ts';
import type { MakeRoom } from '../../../calls/content-room.ts';
import type { PortWrite } from '../../../calls/surface-call.ts';
import { FILE_BYTES_MAX, type FileContent, type WriteMode } from '../../../ports/files.ts';
import type { FileChange } from '../../../sqlite/files.ts';
import { syncFolder } from '../../../sync-folder.ts';
import { denied, Folder, LinkFound, shared } from './folder.ts';

/** Opens the folder with these names. The caller closes it. */
export async function walk(root: string, names: readonly string[], make = false): Promise<Folder> {
  if (make) await mkdir(root, { recursive: true, mode: 0o700 });
  let folder = await Folder.open(root);
  for (const name of names) {
    try {
      if (make) await makeFolder(folder, name);
      const next = await folder.enter(name);
      await folder.close();
      folder = next;
    } catch (error) {
      await folder.close();
      throw error;
    }
  }
  return folder;
}

async function makeFolder(folder: Folder, name: string): Promise<void> {
  try {
    await mkdir(folder.at(name), { mode: 0o700 });
    await folder.sync();
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

export async function within<T>(folder: Folder, work: (folder: Folder) => Promise<T>): Promise<T> {
  try {
    return await work(folder);
  } finally {
    await folder.close();
  }
}

export async function inFolder<T>(
  root: string,
  names: readonly string[],
  work: (folder: Folder, name: string) => Promise<T>,
  make = false,
): Promise<T> {
  const folder = await walk(root, names.slice(0, -1), make);
  return within(folder, () => work(folder, names.at(-1)!));
}

/** Accepts a plain file with one hard link, or a folder. */
export async function look(root: string, names: readonly string[]): Promise<Stats> {
  const seen = await inFolder(root, names, (folder, name) => lstat(folder.at(name)));
  if (seen.isSymbolicLink()) throw new LinkFound();
  if (seen.isDirectory()) return seen;
  checkFile(seen, names);
  return seen;
}

/** A file with several hard links may have one outside: data written here could be read there. */
function checkFile(seen: Stats, names: readonly string[]): void {
  if (!seen.isFile()) throw Object.assign(new Error('not a file'), { code: 'EISDIR' });
  if (seen.nlink > 1) throw shared(names.join('/'));
}

export function readWhole(root: string, names: readonly string[], makeRoom?: MakeRoom): Promise<Uint8Array> {
  return inFolder(root, names, async (folder, name) => {
    const handle = await folder.openFile(name);
    try {
      const seen = await handle.stat();
      checkFile(seen, names);
      if (seen.size > FILE_BYTES_MAX) throw tooLarge();
      await makeRoom?.(seen.size);
      const bytes = new Uint8Array(seen.size);
      const { bytesRead } = await handle.read(bytes, 0, seen.size, 0);
      return bytes.subarray(0, bytesRead);
    } finally {
      await handle.close();
    }
  });
}

export const tooLarge = (): OpenwopError =>
  new OpenwopError('file_too_large', { details: { maxFileSizeBytes: FILE_BYTES_MAX } });

/** Removes folders that a deletion left empty, up to the first that is not empty. */
export async function prune(root: string, folders: readonly string[]): Promise<void> {
  for (let depth = folders.length; depth > 0; depth--) {
    try {
      await inFolder(root, folders.slice(0, depth), (folder, name) => rmdir(folder.at(name)));
    } catch {
      return;
    }
  }
}

export interface Target {
  readonly root: string;
  readonly names: readonly string[];
  readonly path: string;
}

export function changeOf(
  workspace: string,
  { path }: Target,
  call: PortWrite,
  kind: FileChange['kind'],
): FileChange {
  const { tenant, invocation: made } = call;
  const { journalKey: invocation, method, fingerprint } = made;
  const what = { tenant, invocation, method, fingerprint, workspace, path, kind };
  return { ...what, staged: randomUUID(), bytes: 0, contentType: null };
}

/** The new content of the file, checked against its current state. */
export async function contentFor({ root, names, path }: Target, file: FileContent & { mode: WriteMode }) {
  const seen = await look(root, names).catch(missing);
  if (seen?.isDirectory()) throw denied(path, 'is a folder');
  if (seen && file.mode === 'create-only') throw denied(path, 'already exists');
  if (!seen || file.mode !== 'append') return file.bytes;
  return new Uint8Array(Buffer.concat([await readWhole(root, names), file.bytes]));
}

export async function stage(path: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(path, 'wx', 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await syncFolder(dirname(path));
}

/** Not for a path below a file: a write cannot create that. */
function missing(error: unknown): null {
  if (codeOf(error) === 'ENOENT') return null;
  throw error;
}
