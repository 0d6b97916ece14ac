/** Temporary files of archives being received. Their names identify the owning process. */
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { OpenwopError } from '@gantry/protocol';
import { StoreError } from '@gantry/store';

const PARTIAL = /^([0-9a-f]+)-(\d+)-[0-9a-f-]+\.partial(\.keep)?$/;
/** Processes on other machines cannot be checked; no publish takes this long. */
const FOREIGN_AGE_MS = 3_600_000;

export interface SpoolFile {
  readonly path: string;
  readonly integrity: string;
  readonly bytes: number;
  read(): Readable;
  discard(): Promise<void>;
}

const machine = (): string => createHash('sha256').update(hostname()).digest('hex').slice(0, 12);

/** An error of the operating system, as a `StoreError`. */
export const storageError = (happened: string, cause: unknown): StoreError =>
  new StoreError(
    cause instanceof Error && 'code' in cause && cause.code === 'ENOSPC' ? 'disk_full' : 'io',
    happened,
    { cause },
  );

export class Spool {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async write(source: AsyncIterable<Uint8Array>, bytesMax: number): Promise<SpoolFile> {
    const file = path.join(this.#folder, `${machine()}-${process.pid}-${randomUUID()}.partial`);
    const discard = (): Promise<void> => rm(file, { force: true });
    try {
      const written = await writeTo(file, source, bytesMax);
      return { path: file, ...written, read: () => createReadStream(file), discard };
    } catch (error) {
      await discard();
      throw error;
    }
  }

  /** Creates the folder, and removes files of dead processes. */
  async clear(now: number): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    for (const name of await readdir(this.#folder)) {
      const file = path.join(this.#folder, name);
      if (await isAbandoned(file, name, now)) await rm(file, { force: true });
    }
  }
}

async function writeTo(
  file: string,
  source: AsyncIterable<Uint8Array>,
  bytesMax: number,
): Promise<{ integrity: string; bytes: number }> {
  const hash = createHash('sha256');
  let bytes = 0;
  const handle = await onDisk(file, open(file, 'wx', 0o600));
  try {
    for await (const chunk of source) {
      bytes += chunk.length;
      if (bytes > bytesMax)
        throw new OpenwopError('payload_too_large', {
          message: `The archive is larger than ${bytesMax} bytes. Remove files that the pack does not need.`,
          details: { maxBytes: bytesMax },
        });
      hash.update(chunk);
      await onDisk(file, writeAll(handle, chunk));
    }
    await onDisk(file, handle.sync());
  } finally {
    await handle.close();
  }
  return { integrity: `sha256-${hash.digest('base64')}`, bytes };
}

async function writeAll(handle: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let written = 0; written < chunk.length; )
    written += (await handle.write(chunk, written)).bytesWritten;
}

async function onDisk<T>(file: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw storageError(`${path.dirname(file)} cannot be written.`, error);
  }
}

async function isAbandoned(file: string, name: string, now: number): Promise<boolean> {
  const [, owner, pid] = PARTIAL.exec(name) ?? [];
  if (owner === undefined || pid === undefined) return false;
  if (owner === machine() && !(Number(pid) !== process.pid && isAlive(Number(pid)))) return true;
  return now - (await ageOf(file, now)) > FOREIGN_AGE_MS;
}

async function ageOf(file: string, now: number): Promise<number> {
  try {
    return (await stat(file)).mtimeMs;
  } catch {
    return now;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
