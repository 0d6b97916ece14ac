/**
 * Bytes up to a limit, in one buffer. A list of chunks would cost a hundred times its content when a server
 * sends chunks of one byte.
 */
export class BoundedBytes {
  readonly #bytesMax: number;
  #buffer = new Uint8Array(0);
  #length = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Returns whether the chunk fitted. */
  add(chunk: Uint8Array): boolean {
    const length = this.#length + chunk.byteLength;
    if (length > this.#bytesMax) return false;
    if (length > this.#buffer.byteLength) this.#grow(length);
    this.#buffer.set(chunk, this.#length);
    this.#length = length;
    return true;
  }

  bytes(): Uint8Array {
    const isFull = this.#length === this.#buffer.byteLength;
    return isFull ? this.#buffer : this.#buffer.slice(0, this.#length);
  }

  #grow(length: number): void {
    const buffer = new Uint8Array(Math.max(length, this.#buffer.byteLength * 2));
    buffer.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = buffer;
  }
}
