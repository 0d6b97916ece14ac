/** What the file system says, as callers may hear it: nothing of it names a path of this machine. */
import { OpenwopError } from '@gantry/protocol';
import { codeOf } from '../../../backend-errors.ts';
import { LinkFound } from './folder.ts';
import { outside } from './path.ts';

export const denied = (path: string, problem: string): OpenwopError =>
  new OpenwopError('fs_permission_denied', {
    message: `The path ${JSON.stringify(path)} ${problem}. Use another path.`,
  });

/** Its file has other names, which may be anywhere. */
export const shared = (path: string): OpenwopError => outside(path, 'is a hard link');

/** Nothing is there, nor could be: below a file there is nothing. */
export const isAbsent = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '');

const notFound = (path: string): OpenwopError => new OpenwopError('file_not_found', { details: { path } });

/** For those who only look. */
export const explainRead = (error: unknown, path: string): unknown =>
  isAbsent(error) ? notFound(path) : explain(error, path);

export function explain(error: unknown, path: string): unknown {
  if (error instanceof LinkFound) return outside(path, 'is a link or leads through one');
  switch (codeOf(error)) {
    case 'ENOENT':
      return notFound(path);
    case 'ENOTDIR':
      return denied(path, 'leads through a file as if it were a folder');
    case 'EISDIR':
      return denied(path, 'is a folder or a special file');
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return denied(path, 'is closed to this host');
    case 'EXDEV':
      return denied(path, 'is on another disk, where nothing can be written as a whole');
    case 'ENAMETOOLONG':
      return outside(path, 'is too long');
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EIO':
    case 'EMFILE':
    case 'ENFILE':
      return unavailable(error);
    default:
      return error;
  }
}

const unavailable = (cause: unknown): OpenwopError =>
  new OpenwopError('storage_unavailable', {
    message: 'The disk of the files cannot be used for now. Try again later; the operator has to check it.',
    cause,
  });
