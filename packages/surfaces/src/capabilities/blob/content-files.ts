/**
 * Files that hold the content of objects.
 *
 * I1  A file name is used once, so content never changes and a reader never sees two puts mixed.
 * I2  Content is on disk, in `incoming/`, before a row names it, and is moved to its folder afterwards. Until
 *     then, and after a crash in between, it is found in `incoming/`.
 * I3  Files in `incoming/` at the start without a row belong to puts that were never answered.
 */
import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../backend-errors.ts';
import { syncFolder } from '../../sync-folder.ts';

export class ContentFiles {
  readonly #incoming: string;
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    this.#incoming = join(folder, 'incoming');
  }

  /** See I3. */
  async open(isNamed: (file: string) => Promise<boolean>): Promise<void> {
    await mkdir(this.#incoming, { recursive: true, mode: 0o700 });
    for (const file of await readdir(this.#incoming)) {
      if (await isNamed(file)) await this.settle(file);
      else await rm(join(this.#incoming, file), { force: true });
    }
  }

  /** Answers the name of the file, which is on disk, and its size. */
  async add(content: Uint8Array | AsyncIterable<Uint8Array>): Promise<{ file: string; bytes: number }> {
    const file = randomUUID();
    const handle = await open(join(this.#incoming, file), 'wx', 0o600);
    try {
      await handle.writeFile(content);
      await handle.sync();
      const { size: bytes } = await handle.stat();
      await syncFolder(this.#incoming);
      return { file, bytes };
    } catch (error) {
      await rm(join(this.#incoming, file), { force: true });
      throw error;
    } finally {
      await handle.close();
    }
  }

  /** Moves the file out of `incoming/`, once a row names it. Another put may already have replaced and removed it. */
  async settle(file: string): Promise<void> {
    const path = this.#pathOf(file);
    const from = join(this.#incoming, file);
    try {
      await rename(from, path);
    } catch (error) {
      if (!isMissing(error)) throw error;
      await mkdir(join(path, '..'), { recursive: true, mode: 0o700 });
      await syncFolder(this.#folder);
      await rename(from, path).catch((again: unknown) => {
        if (!isMissing(again)) throw again;
      });
    }
  }

  /** Null if the file does not exist. The caller closes it. */
  async find(file: string): Promise<FileHandle | null> {
    for (const path of [this.#pathOf(file), join(this.#incoming, file), this.#pathOf(file)]) {
      try {
        return await open(path, 'r');
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    }
    return null;
  }

  async read(file: string): Promise<Uint8Array | null> {
    const handle = await this.find(file);
    if (handle === null) return null;
    try {
      const { size } = await handle.stat();
      const bytes = new Uint8Array(size);
      const { bytesRead } = await handle.read(bytes, 0, size, 0);
      if (bytesRead !== size) throw new Error(`The content ${file} of an object is shorter than it was`);
      return bytes;
    } finally {
      await handle.close();
    }
  }

  async remove(file: string): Promise<void> {
    await rm(join(this.#incoming, file), { force: true });
    await rm(this.#pathOf(file), { force: true });
  }

  /** Folders of two letters, to limit the files per folder. */
  #pathOf(file: string): string {
    return join(this.#folder, file.slice(0, 2), file);
  }
}

const isMissing = (error: unknown): boolean => codeOf(error) === 'ENOENT';
