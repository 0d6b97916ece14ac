/** Reads and writes the lockfile in the folder of the workflows. */
import { randomUUID } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { LOCKFILE_NAME, type PackLock, readLock } from '@gantry/packs';
import type { Call } from '../../command.ts';
import { UsageError } from '../../io.ts';

export interface LockFile {
  /** As given by the user; for messages. */
  readonly name: string;
  readonly file: string;
  /** The content of the file; absent if there is no file. */
  readonly text?: string;
  readonly lock?: PackLock;
}

export async function readLockFile({ args, io }: Call): Promise<LockFile> {
  const name = args.text('lock') ?? (io.env.GANTRY_PACK_LOCK || LOCKFILE_NAME);
  const file = path.resolve(io.cwd, name);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new UsageError(`Cannot read ${name} (${error.code}).`);
  });
  return text === undefined ? { name, file } : { name, file, text, lock: readLock(text) };
}

/** Exact versions by name. */
export const pinsOf = ({ packs }: Pick<PackLock, 'packs'>): Map<string, string> =>
  new Map(packs.map(({ name, version }) => [name, version]));

/** Written atomically: a truncated lockfile would stop every install. */
export async function saveLockFile({ name, file }: LockFile, text: string): Promise<void> {
  const partial = `${file}.${randomUUID()}.partial`;
  try {
    await writeFile(partial, text, { flag: 'wx', flush: true });
    await rename(partial, file);
  } catch (error) {
    await rm(partial, { force: true });
    const code = error instanceof Error && 'code' in error ? error.code : error;
    throw new UsageError(`Cannot write ${name} (${code}). Check the folder, or choose another with --lock.`);
  }
}
