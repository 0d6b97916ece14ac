/**
 * `fs.read` and `fs.write`: one folder per pack and workspace, accessed only by the host. Every path is
 * resolved inside it and no link is followed, so there are no races.
 */
import { constants } from 'node:fs';
import { access, copyFile, lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { limiter } from '@gantry/limiter';
import type { Data } from '../invocation.ts';
import { ErrorForPack, isObject } from '../result.ts';
import { type Change, ENTRIES_MAX, inTurn, tooLarge } from './folder-quota.ts';

export const FILE_BYTES_MAX = 8 * 1024 * 1024;
/**
 * The maximum size of contents that were read but not yet received by their children. 2,000 calls of 8 MiB each
 * would take 16 GiB.
 */
const READ_BYTES_MAX = 128 * 1024 * 1024;
const reads = limiter({ max: READ_BYTES_MAX, perTenantMax: READ_BYTES_MAX / 2 });
/** No system accepts longer paths, and each component of a path is checked. */
const PATH_MAX = 4096;

/** The pack named a path outside its folder. */
export class OutsideFolder extends Error {}

/** `undefined` for a missing file. Returns links themselves, not their targets. */
const found = (file: string) => lstat(file).catch(() => undefined);

/**
 * The absolute path of a file in the folder. Of absolute paths of the pack only `/`, the folder itself, is accepted.
 */
async function inside(root: string, given: unknown): Promise<string> {
  if (typeof given !== 'string' || given.includes('\0'))
    throw new OutsideFolder('Only plain paths are supported.');
  if (given.length > PATH_MAX)
    throw new ErrorForPack('ENAMETOOLONG', `A path can have at most ${PATH_MAX} characters.`);
  const file = path.join(root, path.relative('/', path.resolve('/', given)));
  if (path.normalize(given).split('/').includes('..') || (path.isAbsolute(given) && given !== '/'))
    throw new OutsideFolder(`The path ${given.slice(0, 200)} leads out of the folder of the pack.`);
  let step = root;
  for (const name of path.relative(root, file).split(path.sep)) {
    step = path.join(step, name);
    if ((await found(step))?.isSymbolicLink())
      throw new OutsideFolder(`The path ${given.slice(0, 200)} is a link.`);
  }
  return file;
}

async function readWhole(file: string, caller: FileCaller): Promise<Uint8Array> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { size } = await handle.stat();
    if (size > FILE_BYTES_MAX) throw fileTooLarge();
    await holdMemory(size, caller);
    const bytes = new Uint8Array(size);
    let filled = 0;
    for (let more = size > 0; more; ) {
      const { bytesRead } = await handle.read(bytes, filled);
      filled += bytesRead;
      more = bytesRead > 0 && filled < size;
    }
    return filled < size ? bytes.slice(0, filled) : bytes;
  } finally {
    await handle.close();
  }
}

/**
 * Holds memory until the child has received its answer. A call that blocks its child does not wait: that child
 * reads no other answer.
 */
async function holdMemory(bytes: number, { tenant, signal, isBlocking }: FileCaller): Promise<void> {
  if (isBlocking || bytes === 0) return;
  const release = await reads.acquire(tenant, { weight: bytes, signal });
  if (signal.aborted) release();
  else signal.addEventListener('abort', release, { once: true });
}

const fileTooLarge = () => tooLarge(`The file is too large: the limit is ${FILE_BYTES_MAX} bytes.`);

const sizeOf = async (file: string): Promise<number | undefined> => (await found(file))?.size;

async function writing(file: string, data: unknown, flag: number): Promise<Change<undefined>> {
  const bytes = data instanceof Uint8Array ? data : Buffer.from(String(data));
  if (bytes.byteLength > FILE_BYTES_MAX) throw fileTooLarge();
  const before = await sizeOf(file);
  const freed = flag === constants.O_TRUNC ? (before ?? 0) : 0;
  return {
    growth: { bytes: bytes.byteLength - freed, entries: before === undefined ? 1 : 0 },
    act: () => write(file, bytes, flag),
  };
}

async function write(file: string, bytes: Uint8Array, flag: number): Promise<undefined> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | flag;
  const handle = await open(file, flags, 0o600);
  try {
    await handle.writeFile(bytes);
  } finally {
    await handle.close();
  }
}

async function copying(from: string, to: string): Promise<Change<undefined>> {
  const [size = 0, before] = [await sizeOf(from), await sizeOf(to)];
  return {
    growth: { bytes: size - (before ?? 0), entries: before === undefined ? 1 : 0 },
    act: async () => void (await copyFile(from, to)),
  };
}

async function makingFolder(file: string, options: unknown, root: string): Promise<Change<undefined>> {
  let entries = 0;
  for (let step = file; step !== root && (await sizeOf(step)) === undefined; step = path.dirname(step))
    entries += 1;
  return {
    growth: { bytes: 0, entries },
    act: async () => void (await mkdir(file, { recursive: recursive(options) })),
  };
}

const bytesOf = (text: string): number => Buffer.byteLength(text);

/** A path that is too long for the system is unreachable: a file moved there could be neither counted nor deleted. */
async function renaming(file: string, target: string): Promise<Change<undefined>> {
  const isFolder = (await lstat(file)).isDirectory();
  const below = isFolder ? await readdir(file, { recursive: true }) : [];
  const longest = below.reduce((most, name) => Math.max(most, bytesOf(name) + 1), 0);
  if (bytesOf(target) + longest >= PATH_MAX)
    throw new ErrorForPack('ENAMETOOLONG', 'The path of a file in the folder would be too long.');
  return { growth: undefined, act: async () => void (await rename(file, target)) };
}

/** The tenant of a call, and how long its answer occupies memory. */
export interface FileCaller {
  readonly tenant: string;
  /** Aborted when the pack has received its answer, or its invocation has ended. */
  readonly signal: AbortSignal;
  readonly isBlocking: boolean;
}

type Read = (file: string, caller: FileCaller) => Promise<Data | undefined>;
type Write = (file: string, rest: readonly unknown[], root: string) => Promise<Change<undefined>>;

const recursive = (options: unknown): boolean => isObject(options) && options.recursive === true;
const forced = (options: unknown): boolean => isObject(options) && options.force === true;

async function removing(
  file: string,
  root: string,
  options: { recursive: boolean; force: boolean },
): Promise<Change<undefined>> {
  if (file === root) throw new OutsideFolder('The folder of the pack itself cannot be removed.');
  return { growth: undefined, act: async () => void (await rm(file, options)) };
}

async function statOf(file: string): Promise<Data> {
  const stats = await lstat(file);
  return { size: stats.size, mtimeMs: stats.mtimeMs, kind: stats.isDirectory() ? 'directory' : 'file' };
}

const READS: Readonly<Record<string, Read>> = {
  readFile: readWhole,
  readdir: async (file) => (await readdir(file)).slice(0, ENTRIES_MAX).sort(),
  access: async (file) => void (await access(file)),
  stat: statOf,
};

const WRITES: Readonly<Record<string, Write>> = {
  writeFile: (file, [data]) => writing(file, data, constants.O_TRUNC),
  appendFile: (file, [data]) => writing(file, data, constants.O_APPEND),
  mkdir: (file, [options], root) => makingFolder(file, options, root),
  rm: (file, [options], root) =>
    removing(file, root, { recursive: recursive(options), force: forced(options) }),
  unlink: (file, _, root) => removing(file, root, { recursive: false, force: false }),
  rename: async (file, [to], root) => renaming(file, await inside(root, to)),
  copyFile: async (file, [to], root) => copying(file, await inside(root, to)),
};

export function filePrimitive(method: string): 'fs.read' | 'fs.write' | undefined {
  if (Object.hasOwn(READS, method)) return 'fs.read';
  return Object.hasOwn(WRITES, method) ? 'fs.write' : undefined;
}

/** System errors contain host paths; replaces them with the path of the pack. */
function withoutHostPath(error: unknown, given: Data | undefined): unknown {
  if (!(error instanceof Error && 'syscall' in error && 'code' in error)) return error;
  return new ErrorForPack(String(error.code), `${error.code}: ${error.syscall} '${given}'`);
}

/** `method` is one that `filePrimitive` accepts. */
export async function fileOperation(
  root: string,
  method: string,
  args: readonly Data[],
  caller: FileCaller,
): Promise<Data | undefined> {
  const [given, ...rest] = args;
  await mkdir(root, { recursive: true });
  try {
    const write = WRITES[method];
    if (write) return await inTurn(root, async () => write(await inside(root, given), rest, root));
    return await READS[method]?.(await inside(root, given), caller);
  } catch (error) {
    throw withoutHostPath(error, given);
  }
}
