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

/** Of the JSON: reading it holds up the loop of the host, so it stays small. */
export const HEAD_BYTES_MAX = 16 * 1024 * 1024;
/** Of all bytes behind it, which are only moved: one file or object of 32 MiB and something beside it. */
export const BYTES_MAX = 33 * 1024 * 1024;
export const FRAME_BYTES_MAX = HEAD_BYTES_MAX + BYTES_MAX;
export const DEPTH_MAX = 200;
/** Each takes memory of its own, even when it is empty. */
const PARTS_MAX = 65_536;
const LENGTHS_BYTES = 8;
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

/** A value that no frame can carry. */
export class TooLarge extends RangeError {}

const sumOf = (lengths) => lengths.reduce((sum, length) => sum + length, 0);

function checkSizes(head, lengths) {
  const bytes = sumOf(lengths);
  if (head <= HEAD_BYTES_MAX && bytes <= BYTES_MAX && lengths.length <= PARTS_MAX) return;
  throw new TooLarge(
    `A message may have ${HEAD_BYTES_MAX} bytes of JSON and ${BYTES_MAX} bytes beside it in ${PARTS_MAX} parts; this one has ${head} and ${bytes} in ${lengths.length}.`,
  );
}

/**
 * One frame in pieces, to be written in order: its lengths with the JSON, then the bytes as they lie in the message.
 * They are not copied, so they must not change before they are written. Throws `TooLarge`, or what is wrong with a
 * value that is too deep or no data.
 */
export function encode(message) {
  const bytes = [];
  const lowered = lower(message, bytes, 0);
  const lengths = bytes.map(({ byteLength }) => byteLength);
  const text = toBytes(JSON.stringify([lowered, lengths]));
  checkSizes(text.byteLength, lengths);
  const head = new Uint8Array(LENGTHS_BYTES + text.byteLength);
  const view = new DataView(head.buffer);
  view.setUint32(0, text.byteLength + sumOf(lengths));
  view.setUint32(4, text.byteLength);
  head.set(text, LENGTHS_BYTES);
  return [head, ...bytes];
}

export const sizeOf = (pieces) => pieces.reduce((sum, { byteLength }) => sum + byteLength, 0);

/** Pieces as one; what they were made of may change afterwards. */
export function join(pieces) {
  const joined = new Uint8Array(sizeOf(pieces));
  let offset = 0;
  for (const piece of pieces) {
    joined.set(piece, offset);
    offset += piece.byteLength;
  }
  return joined;
}

function checkLengths(lengths, bytes) {
  if (!Array.isArray(lengths) || lengths.length > PARTS_MAX) throw new Error('A frame has no such parts.');
  for (const length of lengths)
    if (!(Number.isInteger(length) && length >= 0)) throw new Error('A length is no number.');
  if (sumOf(lengths) !== bytes) throw new Error('The parts of a frame do not fill it.');
}

/**
 * Collects chunks into frames. `push` gives `{ message, size }` for each whole one and throws on a bad one. Every
 * part is collected in memory of its own and nothing of a chunk is kept: whoever gets a part gets that alone.
 */
export class Decoder {
  /** What is being filled: the lengths, the JSON or one part. */
  #place = new Uint8Array(LENGTHS_BYTES);
  #filled = 0;
  #size = 0;
  #textLength = 0;
  #head;
  /** Of the parts; `undefined` before the JSON is there. */
  #lengths;
  #parts = [];

  /** Of the frame that has begun; 0 between frames. */
  get size() {
    return this.#size;
  }

  push(chunk) {
    const frames = [];
    for (let at = 0; ; ) {
      const piece = chunk.subarray(at, at + this.#place.byteLength - this.#filled);
      this.#place.set(piece, this.#filled);
      this.#filled += piece.byteLength;
      at += piece.byteLength;
      if (this.#filled < this.#place.byteLength) return frames;
      const size = this.#size;
      if (this.#isWhole()) frames.push({ message: this.#finish(), size });
    }
  }

  /** Takes what was filled, and says whether it was the last of its frame. */
  #isWhole() {
    if (this.#size === 0) {
      this.#begin(new DataView(this.#place.buffer));
      return false;
    }
    if (this.#lengths) this.#parts.push(this.#place);
    else this.#readHead();
    if (this.#parts.length === this.#lengths.length) return true;
    this.#open(this.#lengths[this.#parts.length]);
    return false;
  }

  /** Before anything of the frame is collected. */
  #begin(view) {
    const size = view.getUint32(0);
    const textLength = view.getUint32(4);
    const isPossible =
      textLength > 0 && textLength <= size && textLength <= HEAD_BYTES_MAX && size - textLength <= BYTES_MAX;
    if (!isPossible) throw new Error('The lengths of a frame are not possible.');
    this.#size = size;
    this.#textLength = textLength;
    this.#open(textLength);
  }

  #readHead() {
    const [head, lengths] = JSON.parse(toText(this.#place));
    checkLengths(lengths, this.#size - this.#textLength);
    this.#head = head;
    this.#lengths = lengths;
  }

  #open(length) {
    this.#place = new Uint8Array(length);
    this.#filled = 0;
  }

  #finish() {
    const message = raise(this.#head, this.#parts, 0);
    this.#size = 0;
    this.#head = undefined;
    this.#lengths = undefined;
    this.#parts = [];
    this.#open(LENGTHS_BYTES);
    return message;
  }
}
