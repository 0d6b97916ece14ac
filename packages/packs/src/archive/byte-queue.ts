import { archiveError } from './limits.ts';

/** Turns chunks of any size into pieces of the size asked for. */
export class ByteQueue {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #held: Uint8Array = new Uint8Array();

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  async take(bytes: number): Promise<Buffer> {
    const piece = Buffer.alloc(bytes);
    let filled = 0;
    while (filled < bytes) {
      if (this.#held.length === 0 && !(await this.#refill()))
        throw archiveError('tarball_tar_parse_failed', 'The archive ends in the middle.');
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
