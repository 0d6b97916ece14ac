import type { ErrorCode } from '@gantry/protocol';
import { archiveError } from './limits.ts';

/**
 * File names in a pack: relative, with forward slashes, the same on every system. A name with a special meaning on
 * Windows (a drive, a stream, a device), or that Windows cannot store, is invalid.
 */
const PATH_BYTES_MAX = 100;
const DEPTH_MAX = 16;
const FORBIDDEN = new Set(['\\', ':', '*', '?', '"', '<', '>', '|']);
const DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)(\..*)?$/i;

/** `./index.mjs` and `index.mjs` are the same file. */
export const normalizePath = (path: string): string => (path.startsWith('./') ? path.slice(2) : path);

function pathProblem(path: string): { readonly code: ErrorCode; readonly why: string } | undefined {
  const segments = normalizePath(path).split('/');
  if (path.startsWith('/') || segments.includes('..') || /^[a-z]:/i.test(path))
    return { code: 'tarball_path_traversal', why: 'leads out of the pack' };
  if (Buffer.byteLength(path) > PATH_BYTES_MAX || segments.length > DEPTH_MAX)
    return { code: 'unsafe_paths', why: 'is too long or too deep' };
  if (segments.every(isPlainSegment)) return undefined;
  return { code: 'unsafe_paths', why: 'has characters that are not allowed on every system' };
}

export const isFilePath = (path: string): boolean => pathProblem(path) === undefined;

function isPlainSegment(segment: string): boolean {
  if (segment === '' || segment === '.' || DEVICE.test(segment) || /[. ]$/.test(segment)) return false;
  return [...segment].every((sign) => sign >= ' ' && sign !== '\u007f' && !FORBIDDEN.has(sign));
}

/** Equal for names that are the same on a case-insensitive, normalising file system. */
const pathKey = (path: string): string => normalizePath(path).normalize('NFC').toLowerCase();

interface Taken {
  readonly path: string;
  readonly type: 'file' | 'directory';
}

/** Refuses names that are the same on some file systems. */
export class Names {
  readonly #taken = new Map<string, Taken>();

  /** Returns the stored form of the name, or throws an error that names it. */
  add(name: string, type: Taken['type']): string {
    const plain = type === 'directory' ? name.replace(/\/$/, '') : name;
    if (type === 'directory' && plain === '.') return plain;
    const problem = pathProblem(plain);
    if (problem) throw archiveError(problem.code, `A name in the archive ${problem.why}.`, plain);
    const path = normalizePath(plain);
    const segments = path.split('/');
    for (let depth = 1; depth < segments.length; depth++)
      this.#take({ path: segments.slice(0, depth).join('/'), type: 'directory' });
    this.#take({ path, type });
    return path;
  }

  #take(wanted: Taken): void {
    const key = pathKey(wanted.path);
    const taken = this.#taken.get(key);
    const isSameFolder =
      taken?.path === wanted.path && taken.type === 'directory' && wanted.type === 'directory';
    if (taken !== undefined && !isSameFolder)
      throw archiveError(
        'unsafe_paths',
        `${wanted.path} and ${taken.path} collide in the archive.`,
        wanted.path,
      );
    this.#taken.set(key, wanted);
  }
}
