/**
 * An open folder. On Linux names are looked up below the open folder (`/proc/self/fd`), so no swapped folder
 * or link is followed. Elsewhere the folder is compared with its path after opening, which leaves a short race.
 */
import { constants, existsSync } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import { join } from 'node:path';
import { OpenwopError } from '@gantry/protocol';
import { codeOf } from '../../../backend-errors.ts';
import { outside } from './path.ts';

const HOLDS = process.platform === 'linux' && existsSync('/proc/self/fd');
const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** A link where a folder or a file was expected. */
export class LinkFound extends Error {}

export class Folder {
  readonly #handle: FileHandle;
  readonly #path: string;

  private constructor(handle: FileHandle, path: string) {
    this.#handle = handle;
    this.#path = path;
  }

  /** For folders of the operator: links in their path are followed. */
  static async open(path: string): Promise<Folder> {
    return new Folder(await open(path, O_RDONLY | O_DIRECTORY), path);
  }

  /** The path of the folder, or of an entry, for the operating system. */
  at(name?: string): string {
    const folder = HOLDS ? `/proc/self/fd/${this.#handle.fd}` : this.#path;
    return name === undefined ? folder : join(folder, name);
  }

  /** Throws `LinkFound`, or the system's error. */
  async enter(name: string): Promise<Folder> {
    const path = this.at(name);
    const seen = await lstat(path);
    if (seen.isSymbolicLink()) throw new LinkFound();
    if (!seen.isDirectory()) throw Object.assign(new Error('not a folder'), { code: 'ENOTDIR' });
    const handle = await opened(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    return this.#same(new Folder(handle, join(this.#path, name)), handle, seen);
  }

  /** Opens a file for reading. A special file is not opened: opening alone could have an effect. */
  async openFile(name: string): Promise<FileHandle> {
    const path = this.at(name);
    const seen = await lstat(path);
    if (seen.isSymbolicLink()) throw new LinkFound();
    if (!seen.isFile()) throw Object.assign(new Error('not a file'), { code: 'EISDIR' });
    const handle = await opened(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    return this.#same(handle, handle, seen);
  }

  /** Makes renames and removals in the folder durable. */
  async sync(): Promise<void> {
    await this.#handle.sync();
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  async #same<T>(thing: T, handle: FileHandle, seen: { dev: number; ino: number }): Promise<T> {
    const { dev, ino } = await handle.stat();
    if (dev === seen.dev && ino === seen.ino) return thing;
    await handle.close();
    throw new LinkFound();
  }
}

/** Opens an entry that was checked before: if it is a link now, it was swapped. */
async function opened(path: string, flags: number): Promise<FileHandle> {
  try {
    return await open(path, flags);
  } catch (error) {
    const code = codeOf(error);
    throw code === 'ELOOP' || code === 'ENOTDIR' ? new LinkFound() : error;
  }
}

export const denied = (path: string, problem: string): OpenwopError =>
  new OpenwopError('fs_permission_denied', {
    message: `The path ${JSON.stringify(path)} ${problem}. Use another path.`,
  });

/** The file has other names, which may be outside. */
export const shared = (path: string): OpenwopError => outside(path, 'is a hard link');

/** Nothing exists at the path: missing, or below a file. */
export const isAbsent = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '');

const notFound = (path: string): OpenwopError => new OpenwopError('file_not_found', { details: { path } });

/** For reads. */
export const explainRead = (error: unknown, path: string): unknown =>
  isAbsent(error) ? notFound(path) : explain(error, path);

export function explain(error: unknown, path: string): unknown {
  if (error instanceof LinkFound) return outside(path, 'is a link or leads through one');
  const code = codeOf(error) ?? '';
  if (code === 'ENOENT') return notFound(path);
  if (code === 'ENAMETOOLONG') return outside(path, 'is too long');
  if (OF_THE_DISK.has(code)) return unavailable(error);
  const problem = DENIED.get(code);
  return problem === undefined ? error : denied(path, problem);
}

const CLOSED = 'cannot be read by this host';
const DENIED: ReadonlyMap<string, string> = new Map([
  ['ENOTDIR', 'has a file where a folder is expected'],
  ['EISDIR', 'is a folder or a special file'],
  ['EACCES', CLOSED],
  ['EPERM', CLOSED],
  ['EROFS', CLOSED],
  ['EXDEV', 'is on another disk, where atomic writes are not possible'],
]);
const OF_THE_DISK: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EMFILE', 'ENFILE']);

const unavailable = (cause: unknown): OpenwopError =>
  new OpenwopError('storage_unavailable', {
    message: 'The disk of the files is not available. Try again later; the operator must check it.',
    cause,
  });
