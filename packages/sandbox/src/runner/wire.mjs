/**
 * Frames between host and child: two lengths, a JSON head, then the bytes it points to. Both sides use this file. In
 * the child, pack code shares the process: the globals used here are locked before it loads (`globals.mjs`), intrinsics
 * are frozen (`intrinsics.mjs`), and methods of Node's own classes are bound here.
 */

import { isPlain, lower, mayRaise, measure, raise, VALUES_MAX } from './data.mjs';

export { DEPTH_MAX, measure, VALUES_MAX } from './data.mjs';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });
const toBytes = encoder.encode.bind(encoder);
const toText = decoder.decode.bind(decoder);

/** The limit of the JSON. It is small because parsing blocks the event loop of the host. */
export const HEAD_BYTES_MAX = 16 * 1024 * 1024;
/** The limit of all bytes after the JSON, which are only copied: one file or object of 32 MiB and some more. */
export const BYTES_MAX = 33 * 1024 * 1024;
export const FRAME_BYTES_MAX = HEAD_BYTES_MAX + BYTES_MAX;
/** The limit of a whole log entry or event: the part of it that is stored, and the frame around it. */
export const NOTE_BYTES_MAX = 65 * 1024;
/** The maximum number of byte arrays. Each has its own allocation, even when it is empty. */
const PARTS_MAX = 65_536;
const LENGTHS_BYTES = 8;
const LARGE_TEXT_BYTES = 64 * 1024;
/** About the memory of a value, however short its text is. */
const VALUE_COST = 8;
const FRAME_COST_MIN = 1024;
/** A value that no frame can carry. */
export class TooLarge extends RangeError {}

const sumOf = (lengths) => lengths.reduce((sum, length) => sum + length, 0);

/** The messages are for the author of the value. */
function checkSizes(head, lengths) {
  const bytes = sumOf(lengths);
  if (head > HEAD_BYTES_MAX)
    throw new TooLarge(`It takes ${head} bytes as JSON; at most ${HEAD_BYTES_MAX} fit.`);
  if (bytes > BYTES_MAX)
    throw new TooLarge(`It holds byte arrays of ${bytes} bytes; at most ${BYTES_MAX} fit.`);
  if (lengths.length > PARTS_MAX)
    throw new TooLarge(`It holds ${lengths.length} byte arrays; at most ${PARTS_MAX} fit.`);
}

/** Called after the size check, since it reads every byte. */
function checkValues(text) {
  const { values, isTooDeep } = measure(text);
  if (isTooDeep) throw new RangeError('The value is nested too deeply.');
  if (values > VALUES_MAX)
    throw new TooLarge(
      `It holds too much: at most ${VALUES_MAX} values fit, and each member of an object counts as ten.`,
    );
  return values;
}

/**
 * One frame in pieces, to be written in order: its lengths with the JSON, then the byte arrays of the message.
 * They are not copied, so they must not change before they are written. Throws `TooLarge`, or another error if
 * a value is too deep or not data.
 */
export function encode(message) {
  const bytes = [];
  const lowered = isPlain(message, 0) ? message : lower(message, bytes, 0);
  const lengths = bytes.map(({ byteLength }) => byteLength);
  const text = toBytes(JSON.stringify([lowered, lengths]));
  checkSizes(text.byteLength, lengths);
  const values = checkValues(text);
  const pieces = [...headOf(text, text.byteLength + sumOf(lengths)), ...bytes];
  // Kept, since counting again would take as long as writing
  pieces.values = values;
  return pieces;
}

/** A large text is a separate piece, so that it is not copied. */
function headOf(text, size) {
  const isLarge = text.byteLength > LARGE_TEXT_BYTES;
  const head = new Uint8Array(isLarge ? LENGTHS_BYTES : LENGTHS_BYTES + text.byteLength);
  const view = new DataView(head.buffer);
  view.setUint32(0, size);
  view.setUint32(4, text.byteLength);
  if (isLarge) return [head, text];
  head.set(text, LENGTHS_BYTES);
  return [head];
}

export const sizeOf = (pieces) => pieces.reduce((sum, { byteLength }) => sum + byteLength, 0);

/** The part of its sender's credit that a frame uses. `size` includes the lengths. */
const costOf = (size, values) => Math.max(size, values * VALUE_COST, FRAME_COST_MIN);

export const costOfPieces = (pieces) => costOf(sizeOf(pieces), pieces.values);

/** Encodes a log entry or an event. */
export function encodeNote(message) {
  let size = 'more';
  try {
    const pieces = encode(message);
    size = sizeOf(pieces);
    if (size <= NOTE_BYTES_MAX) return pieces;
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error;
  }
  throw new TooLarge(`A log entry or event can have at most ${NOTE_BYTES_MAX} bytes; this one has ${size}.`);
}

/** Copies pieces into one; their sources may change afterwards. */
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
    if (!(Number.isInteger(length) && length >= 0)) throw new Error('A length is not a number.');
  if (sumOf(lengths) !== bytes) throw new Error('The parts of a frame do not fill it.');
}

/**
 * Assembles chunks into frames. `push` returns `{ message, size, cost }` for each complete frame and throws on
 * an invalid one. Every part has its own buffer and no chunk is kept, so parts never share memory.
 */
export class Decoder {
  /** The buffer that is being filled: the lengths, the JSON or one part. */
  #buffer = new Uint8Array(LENGTHS_BYTES);
  #filled = 0;
  #size = 0;
  #textLength = 0;
  #values = 0;
  #mayRaise = false;
  #head;
  /** The lengths of the parts; `undefined` before the JSON was read. */
  #lengths;
  #parts = [];

  /** The size of the current frame; 0 between frames. */
  get size() {
    return this.#size;
  }

  push(chunk) {
    const frames = [];
    for (let at = 0; ; ) {
      const piece = chunk.subarray(at, at + this.#buffer.byteLength - this.#filled);
      this.#buffer.set(piece, this.#filled);
      this.#filled += piece.byteLength;
      at += piece.byteLength;
      if (this.#filled < this.#buffer.byteLength) return frames;
      if (this.#isWhole()) frames.push(this.#finish());
    }
  }

  /** Handles the filled buffer, and returns whether it completes the frame. */
  #isWhole() {
    if (this.#size === 0) {
      this.#begin(new DataView(this.#buffer.buffer));
      return false;
    }
    if (this.#lengths) this.#parts.push(this.#buffer);
    else this.#readHead();
    if (this.#parts.length === this.#lengths.length) return true;
    this.#open(this.#lengths[this.#parts.length]);
    return false;
  }

  /** Checks the lengths before any part of the frame is collected. */
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
    this.#values = checkValues(this.#buffer);
    const text = toText(this.#buffer);
    const [head, lengths] = JSON.parse(text);
    checkLengths(lengths, this.#size - this.#textLength);
    this.#mayRaise = mayRaise(text);
    this.#head = head;
    this.#lengths = lengths;
  }

  #open(length) {
    this.#buffer = new Uint8Array(length);
    this.#filled = 0;
  }

  #finish() {
    const message = this.#mayRaise ? raise(this.#head, this.#parts) : this.#head;
    const frame = { message, size: this.#size, cost: costOf(this.#size + LENGTHS_BYTES, this.#values) };
    this.#size = 0;
    this.#head = undefined;
    this.#lengths = undefined;
    this.#parts = [];
    this.#open(LENGTHS_BYTES);
    return frame;
  }
}
