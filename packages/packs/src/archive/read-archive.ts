import { createHash, type Hash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { OpenwopError } from '@gantry/protocol';
import { utf8Of } from '../json.ts';
import {
  ARCHIVE_LIMITS,
  type ArchiveLimits,
  archiveError,
  MANIFEST_BYTES_MAX,
  RATIO_FLOOR_BYTES,
} from './limits.ts';
import { Names } from './path.ts';

export interface Archive {
  /** Paths as in the manifest, without a leading `./`. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** The raw entry, which `manual` signatures cover. */
  readonly manifestBytes: Buffer;
  /** SRI of the archive itself. */
  readonly integrity: string;
  readonly packedBytes: number;
}

/** Reads a whole pack into memory. Throws if the archive is refused. */
export async function readArchive(
  source: ByteSource,
  limits: ArchiveLimits = ARCHIVE_LIMITS,
): Promise<Archive> {
  const files = new Map<string, Buffer>();
  const facts = await eachFile(source, limits, ({ path, bytes }) => {
    files.set(path, bytes);
  });
  return { files, ...facts };
}

/** Visits an archive file by file. An error of `visit` ends the reading. */
export async function eachFile(
  source: ByteSource,
  limits: ArchiveLimits,
  visit: (file: ArchiveFile) => void | Promise<void>,
): Promise<Omit<Archive, 'files'>> {
  const packed = { bytes: 0, hash: createHash('sha256') };
  let manifestBytes: Buffer | undefined;
  const chunks = unpacked(source, packed, limits);
  try {
    for await (const file of archiveFiles(chunks, limits)) {
      if (file.path === 'pack.json') manifestBytes = file.bytes;
      await visit(file);
    }
  } finally {
    await chunks.return(undefined);
  }
  if (manifestBytes === undefined)
    throw archiveError('tarball_manifest_missing', 'The archive has no pack.json at its root.');
  return { manifestBytes, integrity: `sha256-${packed.hash.digest('base64')}`, packedBytes: packed.bytes };
}

export type ByteSource = Uint8Array | AsyncIterable<Uint8Array>;

/** The packed bytes read so far. */
interface Packed {
  bytes: number;
  readonly hash: Hash;
}

async function* unpacked(
  source: ByteSource,
  packed: Packed,
  limits: ArchiveLimits,
): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip({ chunkSize: 64 * 1024 });
  // A consumer that stops early destroys `gunzip`, which ends the pipeline: the loop below reports its error.
  pipeline(counted(source, packed, limits), gunzip).catch(() => undefined);
  let unpackedBytes = 0;
  try {
    for await (const chunk of gunzip) {
      unpackedBytes += chunk.length;
      refuseUnpacked(unpackedBytes, packed.bytes, limits);
      yield chunk;
    }
  } catch (error) {
    if (error instanceof OpenwopError || !isZlibError(error)) throw error;
    throw archiveError('tarball_gunzip_failed', 'The archive is not a complete gzip stream.');
  }
  // Node's gunzip ignores data after the last member.
  if (gunzip.bytesWritten < packed.bytes)
    throw archiveError('tarball_gunzip_failed', 'The gzip stream continues after its end.');
}

async function* counted(
  source: ByteSource,
  packed: Packed,
  { archiveBytesMax }: ArchiveLimits,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of source instanceof Uint8Array ? [source] : source) {
    packed.bytes += chunk.length;
    if (packed.bytes > archiveBytesMax)
      throw archiveError('tarball_too_large', `The archive is over ${archiveBytesMax} bytes.`);
    packed.hash.update(chunk);
    yield chunk;
  }
}

function refuseUnpacked(
  bytes: number,
  packedBytes: number,
  { totalBytesMax, ratioMax }: ArchiveLimits,
): void {
  if (bytes > totalBytesMax)
    throw archiveError('tarball_too_large', `The archive unpacks to more than ${totalBytesMax} bytes.`);
  if (bytes > RATIO_FLOOR_BYTES && bytes > packedBytes * ratioMax)
    throw archiveError('tarball_too_large', `The archive unpacks to over ${ratioMax} times its size.`);
}

const isZlibError = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('Z_');

const failed = (message: string, path?: string) => archiveError('tarball_tar_parse_failed', message, path);

const BLOCK_BYTES = 512;

export interface ArchiveFile {
  readonly path: string;
  readonly bytes: Buffer;
}

/**
 * The files of an unpacked archive, one in memory at a time. Libraries are not used, since they resolve extended
 * headers silently and continue after the end marker: two readers could then see two packs in one archive.
 */
export async function* archiveFiles(
  chunks: AsyncIterable<Uint8Array>,
  limits: ArchiveLimits,
): AsyncGenerator<ArchiveFile> {
  const queue = new ByteQueue(chunks);
  const names = new Names();
  for (let count = 0; ; count++) {
    const block = await queue.take(BLOCK_BYTES);
    if (block.every((byte) => byte === 0)) return await refuseRest(queue);
    if (count >= limits.entriesMax)
      throw archiveError('tarball_too_large', `The archive has more than ${limits.entriesMax} entries.`);
    const header = readTarHeader(block);
    const path = names.add(header.path, header.type);
    if (header.type === 'directory') continue;
    refuseSize(header, path, limits);
    yield { path, bytes: await queue.take(header.size) };
    const padding = await queue.take(-header.size & (BLOCK_BYTES - 1));
    if (padding.some((byte) => byte !== 0))
      throw failed('The padding between two files of the archive is not empty.');
  }
}

function refuseSize({ size }: TarHeader, path: string, { entryBytesMax }: ArchiveLimits): void {
  if (path === 'pack.json' && size > MANIFEST_BYTES_MAX)
    throw archiveError('tarball_manifest_too_large', `pack.json is over ${MANIFEST_BYTES_MAX} bytes.`);
  if (size > entryBytesMax)
    throw archiveError('tarball_entry_too_large', `${path} is over ${entryBytesMax} bytes.`, path);
}

async function refuseRest(queue: ByteQueue): Promise<void> {
  for await (const chunk of queue.rest())
    if (chunk.some((byte) => byte !== 0)) throw failed('The archive continues after its end.');
}

interface TarHeader {
  readonly type: 'file' | 'directory';
  readonly path: string;
  readonly size: number;
}

/** One USTAR header block as published packs use it. Anything else is refused by name. */
function readTarHeader(block: Buffer): TarHeader {
  if (checksum(block) !== octal(block, 148, 8)) throw failed('A header of the archive is damaged.');
  if (block.toString('latin1', 257, 262) !== 'ustar') throw failed('The archive is not USTAR.');
  const path = [string(block, 345, 155), string(block, 0, 100)].filter((part) => part !== '').join('/');
  const size = octal(block, 124, 12);
  const type = typeOf(String.fromCharCode(block[156] ?? 0), path);
  if (type === 'directory' && size > 0) throw failed('A folder in the archive has content.', path);
  return { type, path, size };
}

function typeOf(flag: string, path: string): TarHeader['type'] {
  if (flag === '0' || flag === '\0') return 'file';
  if (flag === '5') return 'directory';
  if (flag === '1' || flag === '2') throw archiveError('unsafe_paths', 'The archive holds a link.', path);
  if (flag === '3' || flag === '4' || flag === '6')
    throw archiveError('unsafe_paths', 'The archive holds a device or a pipe.', path);
  if ('xgLK'.includes(flag)) throw failed('The archive uses extended headers for long names.', path);
  throw failed(`The archive holds an entry of the unknown type ${JSON.stringify(flag)}.`, path);
}

function string(block: Buffer, start: number, length: number): string {
  const field = block.subarray(start, start + length);
  const end = field.indexOf(0);
  const text = utf8Of(end === -1 ? field : field.subarray(0, end));
  if (text === undefined) throw failed('A name in the archive is not UTF-8.');
  return text;
}

/** Octal digits, padded with spaces and NULs; the base-256 form of other dialects is refused. */
function octal(block: Buffer, start: number, length: number): number {
  const field = block
    .toString('latin1', start, start + length)
    .replace(/^ +/, '')
    .replace(/[\0 ]+$/, '');
  if (!/^[0-7]{1,11}$/.test(field)) throw failed('A header of the archive has a number that is not octal.');
  return Number.parseInt(field, 8);
}

/** The sum of all bytes, with spaces in place of the checksum. */
function checksum(block: Buffer): number {
  let sum = 0;
  for (let index = 0; index < BLOCK_BYTES; index++)
    sum += index >= 148 && index < 156 ? 32 : (block[index] ?? 0);
  return sum;
}

/** Converts chunks of any size into pieces of the requested size. */
class ByteQueue {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #held: Uint8Array = new Uint8Array();

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  async take(bytes: number): Promise<Buffer> {
    const piece = Buffer.alloc(bytes);
    let filled = 0;
    while (filled < bytes) {
      if (this.#held.length === 0 && !(await this.#refill())) throw failed('The archive ends in the middle.');
      const part = this.#held.subarray(0, bytes - filled);
      piece.set(part, filled);
      filled += part.length;
      this.#held = this.#held.subarray(part.length);
    }
    return piece;
  }

  async *rest(): AsyncGenerator<Uint8Array> {
    do yield this.#held;
    while (await this.#refill());
  }

  async #refill(): Promise<boolean> {
    const { done, value } = await this.#chunks.next();
    this.#held = done ? new Uint8Array() : value;
    return !done;
  }
}
