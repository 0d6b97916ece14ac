import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { OpenwopError } from '@gantry/protocol';
import { type ArchiveLimits, archiveError, RATIO_FLOOR_BYTES } from './limits.ts';

export type ByteSource = Uint8Array | AsyncIterable<Uint8Array>;

/** Unpacks a stream while it counts: `integrity` and `packedBytes` are whole once `chunks` has ended. */
export class Gunzip {
  readonly #source: ByteSource;
  readonly #limits: ArchiveLimits;
  readonly #hash = createHash('sha256');
  packedBytes = 0;
  unpackedBytes = 0;

  constructor(source: ByteSource, limits: ArchiveLimits) {
    this.#source = source;
    this.#limits = limits;
  }

  /** SRI of what was read. */
  integrity(): string {
    return `sha256-${this.#hash.copy().digest('base64')}`;
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    const gunzip = createGunzip({ chunkSize: 64 * 1024 });
    // A consumer that stops early destroys `gunzip`, which ends the pipeline: the loop below reports its error.
    pipeline(this.#packed(), gunzip).catch(() => undefined);
    try {
      for await (const chunk of gunzip) {
        this.#countUnpacked(chunk.length);
        yield chunk;
      }
    } catch (error) {
      if (error instanceof OpenwopError || !isZlibError(error)) throw error;
      throw archiveError('tarball_gunzip_failed', 'The archive is not a complete gzip stream.');
    }
    // Node's gunzip ignores what follows the last member.
    if (gunzip.bytesWritten < this.packedBytes)
      throw archiveError('tarball_gunzip_failed', 'The gzip stream continues after its end.');
  }

  async *#packed(): AsyncGenerator<Uint8Array> {
    const source = this.#source instanceof Uint8Array ? [this.#source] : this.#source;
    for await (const chunk of source) {
      this.packedBytes += chunk.length;
      if (this.packedBytes > this.#limits.archiveBytesMax)
        throw archiveError('tarball_too_large', `The archive is over ${this.#limits.archiveBytesMax} bytes.`);
      this.#hash.update(chunk);
      yield chunk;
    }
  }

  #countUnpacked(bytes: number): void {
    this.unpackedBytes += bytes;
    const { totalBytesMax, ratioMax } = this.#limits;
    if (this.unpackedBytes > totalBytesMax)
      throw archiveError('tarball_too_large', `The archive unpacks to more than ${totalBytesMax} bytes.`);
    if (this.unpackedBytes > RATIO_FLOOR_BYTES && this.unpackedBytes > this.packedBytes * ratioMax)
      throw archiveError('tarball_too_large', `The archive unpacks to over ${ratioMax} times its size.`);
  }
}

const isZlibError = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('Z_');
