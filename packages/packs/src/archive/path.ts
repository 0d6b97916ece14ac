/**
 * Names of files in a pack: relative, with forward slashes, the same on every system. A name that means
 * something else to Windows (a drive, a stream, a device) or that it cannot hold is no name.
 */
const PATH_BYTES_MAX = 100;
const DEPTH_MAX = 16;
const FORBIDDEN = new Set(['\\', ':', '*', '?', '"', '<', '>', '|']);
const DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)(\..*)?$/i;

/** `./index.mjs` and `index.mjs` are one file. */
export const normalizePath = (path: string): string => (path.startsWith('./') ? path.slice(2) : path);

export type PathProblem = 'traversal' | 'unsafe' | 'too-long';

export function pathProblem(path: string): PathProblem | undefined {
  const segments = normalizePath(path).split('/');
  if (path.startsWith('/') || segments.includes('..') || /^[a-z]:/i.test(path)) return 'traversal';
  if (Buffer.byteLength(path) > PATH_BYTES_MAX || segments.length > DEPTH_MAX) return 'too-long';
  return segments.every(isPlainSegment) ? undefined : 'unsafe';
}

export const isFilePath = (path: string): boolean => pathProblem(path) === undefined;

function isPlainSegment(segment: string): boolean {
  if (segment === '' || segment === '.' || DEVICE.test(segment) || /[. ]$/.test(segment)) return false;
  return [...segment].every((sign) => sign >= ' ' && sign !== '\u007f' && !FORBIDDEN.has(sign));
}

/** What a case-insensitive, normalising file system would take for the same name. */
export const pathKey = (path: string): string => normalizePath(path).normalize('NFC').toLowerCase();
