/** Messages between the host and a converter: JSON, then bytes. */
import type { Writable } from 'node:stream';
import { ENTRIES_MAX } from '../archive/limits.ts';

export interface Message {
  readonly head: unknown;
  readonly parts: readonly Uint8Array[];
}

const LENGTH_BYTES = 4;
/** Includes the text of PDF files, escaped. */
const HEAD_BYTES_MAX = 16 * 1_048_576;
/** No other task has as many. */
const PARTS_MAX = ENTRIES_MAX;

/** Sent part by part; measured: joining 30 MiB, and splitting them again, blocked everything else for 50 ms. */
export function send(stream: Writable, { head, parts }: Message): void {
  const text = Buffer.from(JSON.stringify({ head, lengths: parts.map(({ byteLength }) => byteLength) }));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(text.byteLength);
  stream.cork();
  for (const piece of [length, text, ...parts]) stream.write(piece);
  stream.end();
}

/** Throws unless it is exactly one message: the other side decodes untrusted files, and may be compromised. */
export async function receive(chunks: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Message> {
  const incoming = new Incoming(chunks);
  const headBytes = Buffer.from(await incoming.take(LENGTH_BYTES)).readUInt32BE();
  if (headBytes > HEAD_BYTES_MAX) throw new Error('a head that is too large');
  const text = new TextDecoder().decode(await incoming.take(headBytes));
  const { head, lengths } = JSON.parse(text) as { head: unknown; lengths: unknown };
  if (!Array.isArray(lengths) || lengths.length > PARTS_MAX) throw new Error('a message without its parts');
  let room = bytesMax;
  const parts: Uint8Array[] = [];
  for (const length of lengths as unknown[]) {
    if (typeof length !== 'number' || !Number.isSafeInteger(length) || length < 0 || length > room)
      throw new Error('an invalid part');
    room -= length;
    parts.push(await incoming.take(length));
  }
  if (!(await incoming.isOver())) throw new Error('bytes that belong to nothing');
  return { head, parts };
}

class Incoming {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #held: Uint8Array = new Uint8Array();

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  async take(bytes: number): Promise<Uint8Array> {
    const taken = new Uint8Array(bytes);
    for (let filled = 0; filled < bytes; ) {
      if (await this.isOver()) throw new Error('a part that is not there');
      const piece = this.#held.subarray(0, bytes - filled);
      taken.set(piece, filled);
      filled += piece.byteLength;
      this.#held = this.#held.subarray(piece.byteLength);
    }
    return taken;
  }

  async isOver(): Promise<boolean> {
    while (this.#held.byteLength === 0) {
      const { done, value } = await this.#chunks.next();
      if (done) return true;
      this.#held = value;
    }
    return false;
  }
}
