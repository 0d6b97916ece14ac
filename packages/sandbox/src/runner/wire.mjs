/**
 * Frames between host and child: two lengths, a JSON head, then the bytes it points to.
 * Both sides use this file. In the child, pack code shares the process: the globals used here are locked
 * before it loads (`globals.mjs`), prototypes of intrinsics are frozen by a flag, and methods of Node's own
 * classes are bound here.
 */

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });
const toBytes = encoder.encode.bind(encoder);
const toText = decoder.decode.bind(decoder);

export const FRAME_BYTES_MAX = 16 * 1024 * 1024;
export const DEPTH_MAX = 200;
const HEAD_BYTES = 8;
const ESCAPED = /^\$+bytes$/;

const viewOf = (value) =>
  value instanceof ArrayBuffer
    ? new Uint8Array(value)
    : new Uint8Array(value.buffer, value.byteOffset, value.byteLength);

function lowerObject(value, bytes, depth) {
  const lowered = {};
  for (const key of Object.keys(value)) {
    const item = lower(value[key], bytes, depth + 1);
    if (item !== undefined && key !== '__proto__') lowered[ESCAPED.test(key) ? `$${key}` : key] = item;
  }
  return lowered;
}

/** What JSON would make of a value, with bytes put aside. */
function lower(value, bytes, depth) {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : null;
    case 'bigint':
      throw new TypeError('A BigInt cannot leave the sandbox; send a string.');
    case 'object':
      break;
    default:
      return undefined;
  }
  if (value === null) return null;
  if (depth > DEPTH_MAX) throw new RangeError('The value is nested too deeply.');
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) {
    bytes.push(viewOf(value));
    return { $bytes: bytes.length - 1 };
  }
  if (typeof value.toJSON === 'function') return lower(value.toJSON(), bytes, depth + 1);
  if (!Array.isArray(value)) return lowerObject(value, bytes, depth);
  return value.map((item) => lower(item, bytes, depth + 1) ?? null);
}

function raiseObject(value, bytes, depth) {
  const raised = {};
  for (const key of Object.keys(value))
    if (key !== '__proto__')
      raised[ESCAPED.test(key) ? key.slice(1) : key] = raise(value[key], bytes, depth + 1);
  return raised;
}

function raise(value, bytes, depth) {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > DEPTH_MAX) throw new RangeError('The value is nested too deeply.');
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) value[index] = raise(value[index], bytes, depth + 1);
    return value;
  }
  if (!Object.hasOwn(value, '$bytes')) return raiseObject(value, bytes, depth);
  const found = Number.isInteger(value.$bytes) ? bytes[value.$bytes] : undefined;
  if (found === undefined) throw new Error('The frame points to bytes that it does not have.');
  return found;
}

/** One frame. Throws when the value is too deep, too large or no data. */
export function encode(message) {
  const bytes = [];
  const head = lower(message, bytes, 0);
  const text = toBytes(JSON.stringify([head, bytes.map(({ byteLength }) => byteLength)]));
  const size = bytes.reduce((sum, { byteLength }) => sum + byteLength, text.byteLength);
  if (size > FRAME_BYTES_MAX) throw new RangeError(`A message of ${size} bytes is too large.`);
  const frame = new Uint8Array(HEAD_BYTES + size);
  const view = new DataView(frame.buffer);
  view.setUint32(0, size);
  view.setUint32(4, text.byteLength);
  frame.set(text, HEAD_BYTES);
  let offset = HEAD_BYTES + text.byteLength;
  for (const part of bytes) {
    frame.set(part, offset);
    offset += part.byteLength;
  }
  return frame;
}

function decode(body, textLength) {
  const [head, lengths] = JSON.parse(toText(body.subarray(0, textLength)));
  let offset = textLength;
  const bytes = lengths.map((length) => {
    if (!(Number.isInteger(length) && length >= 0)) throw new Error('A length is no number.');
    const part = new Uint8Array(body.subarray(offset, offset + length));
    offset += length;
    return part;
  });
  if (offset !== body.byteLength) throw new Error('The parts of a frame do not fill it.');
  return raise(head, bytes, 0);
}

/** Collects chunks into frames. `push` gives `{ message, size }` for each whole one and throws on a bad one. */
export class Decoder {
  #pending = new Uint8Array(0);
  #chunks = [];
  #length = 0;
  #wanted = HEAD_BYTES;

  push(chunk) {
    this.#chunks.push(chunk);
    this.#length += chunk.byteLength;
    const frames = [];
    while (this.#length >= this.#wanted) {
      this.#join();
      const view = new DataView(this.#pending.buffer, this.#pending.byteOffset, this.#pending.byteLength);
      const size = view.getUint32(0);
      const textLength = view.getUint32(4);
      if (size > FRAME_BYTES_MAX || textLength > size)
        throw new Error('The lengths of a frame are not possible.');
      this.#wanted = HEAD_BYTES + size;
      if (this.#length < this.#wanted) break;
      frames.push({ message: decode(this.#pending.subarray(HEAD_BYTES, this.#wanted), textLength), size });
      this.#pending = this.#pending.subarray(this.#wanted);
      this.#chunks = [this.#pending];
      this.#length = this.#pending.byteLength;
      this.#wanted = HEAD_BYTES;
    }
    return frames;
  }

  #join() {
    if (this.#chunks.length === 1) {
      this.#pending = this.#chunks[0];
      return;
    }
    const joined = new Uint8Array(this.#length);
    let offset = 0;
    for (const chunk of this.#chunks) {
      joined.set(chunk, offset);
      offset += chunk.byteLength;
    }
    this.#pending = joined;
    this.#chunks = [joined];
  }
}
