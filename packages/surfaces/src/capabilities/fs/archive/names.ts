/** Checks entry names of archives that are read or created: each must be a valid file path. */
import { setImmediate as turn } from 'node:timers/promises';
import { invalid, type OpenwopError } from '@gantry/protocol';
import { outside, plainPath } from '../files/path.ts';

export interface EntryNames {
  readonly files: readonly string[];
  readonly folders: readonly string[];
}

/** The entries of a folder by name; a file has none. */
interface Folder extends Map<string, Folder | 'file'> {}

/** Measured: 2,000 long paths blocked the event loop for 80 ms. */
const NAMES_AT_ONCE = 100;

/** Plain paths of the files, in order. Throws with the name of the first refused entry. */
export async function plainEntries({ files, folders }: EntryNames): Promise<string[]> {
  const root: Folder = new Map();
  const paths: string[] = [];
  for (const given of files) {
    const names = namesIn(given);
    const name = names.pop();
    if (name === undefined) throw outside(given, 'is not the name of a file');
    const folder = enter(root, names, given);
    if (folder.has(name)) throw twice(given);
    folder.set(name, 'file');
    paths.push([...names, name].join('/'));
    if (paths.length % NAMES_AT_ONCE === 0) await turn();
  }
  for (const [index, given] of folders.entries()) {
    enter(root, namesIn(given), given);
    if (index % NAMES_AT_ONCE === 0) await turn();
  }
  return paths;
}

function enter(root: Folder, names: readonly string[], given: string): Folder {
  let folder = root;
  for (const name of names) {
    const next = folder.get(name) ?? new Map();
    if (next === 'file') throw twice(given);
    folder.set(name, next);
    folder = next;
  }
  return folder;
}

/** Empty for the root folder of the archive, which tar names `./`. */
function namesIn(given: string): string[] {
  if (given.startsWith('/')) throw outside(given, 'of an entry does not start in the archive');
  const names = given.split('/');
  if (names.includes('..')) throw outside(given, 'of an entry has ".." in it');
  const isRoot = given !== '' && names.every((name) => name === '' || name === '.');
  return isRoot ? [] : plainPath(given);
}

const twice = (path: string): OpenwopError =>
  invalid(
    `The archive has more than one entry for ${JSON.stringify(path)}. Give each file a path of its own.`,
    { path },
  );
