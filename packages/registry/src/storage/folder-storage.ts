/** Archives in a folder. */
import { link, mkdir, open, opendir, rename, rm, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import { Spool, type SpoolFile, storageError } from './spool.ts';
import { type ArchiveStorage, integrityIn, nameOf, type StoredArchive } from './storage.ts';

interface FolderStorageOptions {
  readonly folder: string;
  readonly now: () => number;
}

export function openFolderStorage({ folder, now }: FolderStorageOptions): ArchiveStorage {
  const archives = path.join(folder, 'archives');
  // In the same file system, so that storing an archive is a rename.
  const spool = new Spool(path.join(folder, 'spool'));
  const fileOf = (integrity: string): string => path.join(archives, nameOf(integrity));
  return {
    async spool(source, bytesMax) {
      const file = await spool.write(source, bytesMax);
      return { ...file, keep: () => keep(file, fileOf(file.integrity), now()) };
    },
    get: (integrity) => read(fileOf(integrity)),
    has: async (integrity) => (await ageOf(fileOf(integrity))) !== undefined,
    delete: (integrity) => rm(fileOf(integrity), { force: true }),
    list: () => list(archives),
    async start() {
      await mkdir(archives, { recursive: true, mode: 0o700 });
      await spool.clear(now());
    },
    stop: async () => undefined,
  };
}

/**
 * Renames a second link of the spooled file to its final name, over an older copy with the same bytes. The spooled
 * file stays, so that it can be stored again.
 */
async function keep(file: SpoolFile, target: string, now: number): Promise<void> {
  const second = `${file.path}.keep`;
  try {
    await utimes(file.path, now / 1000, now / 1000);
    await link(file.path, second);
    await rename(second, target);
    await syncFolder(path.dirname(target));
  } catch (error) {
    throw storageError(`${path.dirname(target)} cannot be written.`, error);
  } finally {
    // A rename between two links of one file does nothing.
    await rm(second, { force: true });
  }
}

/** Makes the rename durable. Windows cannot sync folders. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function read(file: string) {
  try {
    return (await open(file, 'r')).createReadStream();
  } catch (error) {
    throw storageError(`The archive ${path.basename(file)} cannot be read.`, error);
  }
}

async function ageOf(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).mtimeMs;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw storageError(`The archive ${path.basename(file)} cannot be accessed.`, error);
  }
}

async function* list(folder: string): AsyncGenerator<StoredArchive> {
  for await (const entry of await opendir(folder)) {
    const integrity = integrityIn(entry.name);
    const storedAt = integrity && (await ageOf(path.join(folder, entry.name)));
    if (integrity !== undefined && typeof storedAt === 'number') yield { integrity, storedAt };
  }
}
