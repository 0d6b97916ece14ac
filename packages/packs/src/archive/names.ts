import { archiveError } from './limits.ts';
import { normalizePath, pathKey, pathProblem } from './path.ts';

interface Taken {
  readonly path: string;
  readonly type: 'file' | 'directory';
}

/** Keeps names apart that some file system would take for one. */
export class Names {
  readonly #taken = new Map<string, Taken>();

  /** The name as it is kept, or an error that names it. */
  add(name: string, type: Taken['type']): string {
    const plain = type === 'directory' ? name.replace(/\/$/, '') : name;
    if (type === 'directory' && plain === '.') return plain;
    refuseProblem(plain);
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

function refuseProblem(path: string): void {
  const problem = pathProblem(path);
  if (problem === 'traversal')
    throw archiveError('tarball_path_traversal', 'A name in the archive leads out of the pack.', path);
  if (problem === 'too-long')
    throw archiveError('unsafe_paths', 'A name in the archive is too long or too deep.', path);
  if (problem === 'unsafe')
    throw archiveError(
      'unsafe_paths',
      'A name in the archive has characters that are not allowed on every system.',
      path,
    );
}
