/**
 * `fs.read` and `fs.write`: one folder for a pack in a workspace, touched by the host alone. Every path is
 * resolved inside it and no link is followed, so there is nothing to race with.
 */
import { constants } from 'node:fs';
import { access, copyFile, lstat, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Data } from '../invocation.ts';
import { isObject } from '../result.ts';

export const FILE_BYTES_MAX = 8 * 1024 * 1024;
const ENTRIES_MAX = 10_000;
const FOLDER_BYTES_MAX = 256 * 1024 * 1024;

/** The pack named something outside of its folder. */
export class OutsideFolder extends Error {}

async function isLink(file: string): Promise<boolean> {
  try {
    return (await lstat(file)).isSymbolicLink();
  } catch {
    return false;
  }
}

/** The absolute path of something in the folder; absolute paths of the pack start there too. */
async function inside(root: string, given: unknown): Promise<string> {
  if (typeof given !== 'string' || given.includes('\0'))
    throw new OutsideFolder('Only plain paths are understood.');
  const file = path.join(root, path.relative('/', path.resolve('/', given)));
  if (path.normalize(given).split('/').includes('..') || (path.isAbsolute(given) && given !== '/'))
    throw new OutsideFolder(`The path ${given.slice(0, 200)} leads out of the folder of the pack.`);
  let step = root;
  for (const name of path.relative(root, file).split(path.sep)) {
    step = path.join(step, name);
    if (await isLink(step)) throw new OutsideFolder(`The path ${given.slice(0, 200)} is a link.`);
  }
  return file;
}

async function readWhole(file: string): Promise<Uint8Array> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    if ((await handle.stat()).size > FILE_BYTES_MAX) throw tooLarge();
    return new Uint8Array(await handle.readFile());
  } finally {
    await handle.close();
  }
}

const tooLarge = (): Error => Object.assign(new Error('The file is too large.'), { code: 'file_too_large' });

async function usedBytes(root: string): Promise<number> {
  const entries = await readdir(root, { withFileTypes: true, recursive: true });
  if (entries.length > ENTRIES_MAX) throw tooLarge();
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(
    files.map(async (file) => (await stat(path.join(file.parentPath, file.name))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function write(root: string, file: string, data: unknown, flags: number): Promise<void> {
  const bytes = data instanceof Uint8Array ? data : Buffer.from(String(data));
  if (bytes.byteLength > FILE_BYTES_MAX || (await usedBytes(root)) + bytes.byteLength > FOLDER_BYTES_MAX)
    throw tooLarge();
  const handle = await open(
    file,
    constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | flags,
    0o600,
  );
  try {
    await handle.writeFile(bytes);
  } finally {
    await handle.close();
  }
}

type Operation = (file: string, rest: readonly unknown[], root: string) => Promise<Data | undefined>;

const recursive = (options: unknown): boolean => isObject(options) && options.recursive === true;
const forced = (options: unknown): boolean => isObject(options) && options.force === true;

async function removed(
  file: string,
  root: string,
  options: { recursive: boolean; force: boolean },
): Promise<undefined> {
  if (file === root) throw new OutsideFolder('The folder itself stays.');
  await rm(file, options);
}

const OPERATIONS: Readonly<Record<string, { needs: 'fs.read' | 'fs.write'; run: Operation }>> = {
  readFile: { needs: 'fs.read', run: readWhole },
  readdir: { needs: 'fs.read', run: async (file) => (await readdir(file)).slice(0, ENTRIES_MAX).sort() },
  access: { needs: 'fs.read', run: async (file) => void (await access(file)) },
  stat: {
    needs: 'fs.read',
    run: async (file) => {
      const found = await lstat(file);
      return { size: found.size, mtimeMs: found.mtimeMs, kind: found.isDirectory() ? 'directory' : 'file' };
    },
  },
  writeFile: {
    needs: 'fs.write',
    run: (file, [data], root) => write(root, file, data, constants.O_TRUNC).then(() => undefined),
  },
  appendFile: {
    needs: 'fs.write',
    run: (file, [data], root) => write(root, file, data, constants.O_APPEND).then(() => undefined),
  },
  mkdir: {
    needs: 'fs.write',
    run: async (file, [options]) => void (await mkdir(file, { recursive: recursive(options) })),
  },
  rm: {
    needs: 'fs.write',
    run: (file, [options], root) =>
      removed(file, root, { recursive: recursive(options), force: forced(options) }),
  },
  unlink: {
    needs: 'fs.write',
    run: (file, _, root) => removed(file, root, { recursive: false, force: false }),
  },
  rename: {
    needs: 'fs.write',
    run: async (file, [to], root) => void (await rename(file, await inside(root, to))),
  },
  copyFile: {
    needs: 'fs.write',
    run: async (file, [to], root) => void (await copyFile(file, await inside(root, to))),
  },
};

export const filePrimitive = (method: string): 'fs.read' | 'fs.write' | undefined =>
  Object.hasOwn(OPERATIONS, method) ? OPERATIONS[method]?.needs : undefined;

/** What the system says names host paths; the pack hears its own. */
function withoutHostPath(error: unknown, given: Data | undefined): unknown {
  if (!(error instanceof Error && 'syscall' in error && 'code' in error)) return error;
  return Object.assign(new Error(`${error.code}: ${error.syscall} '${given}'`), { code: error.code });
}

export async function fileOperation(
  root: string,
  method: string,
  args: readonly Data[],
): Promise<Data | undefined> {
  const [given, ...rest] = args;
  await mkdir(root, { recursive: true });
  try {
    return await OPERATIONS[method]?.run(await inside(root, given), rest, root);
  } catch (error) {
    throw withoutHostPath(error, given);
  }
}
