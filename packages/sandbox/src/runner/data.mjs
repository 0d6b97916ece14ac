/**
 * Bytes in JSON: a value refers to them by `$bytes`, and names of that form are escaped.
 *
 * Also estimates the work of parsing JSON from its bytes: JSON of 16 MiB may be one text, or five million lists
 * that block the event loop for seconds. Host and child both use this file, so that they agree.
 */

const ESCAPED = /^\$+bytes$/;
const DOLLAR = 36;
const isEscaped = (key) => key.charCodeAt(0) === DOLLAR && ESCAPED.test(key);
const isRaised = (key) => key === '__proto__' || isEscaped(key);

const viewOf = (value) =>
  value instanceof ArrayBuffer
    ? new Uint8Array(value)
    : new Uint8Array(value.buffer, value.byteOffset, value.byteLength);

/** Values that JSON would turn into an empty object. */
const COLLECTIONS = Object.entries({ Map, Set, WeakMap, WeakSet, RegExp });

/** The problem with a value that JSON would change silently; undefined when there is none. */
export function unsayable(value) {
  if (typeof value === 'number')
    return Number.isFinite(value)
      ? undefined
      : `is ${value}, which JSON cannot represent; send null or a string.`;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  if (Object.hasOwn(value, '__proto__')) return 'has a member named __proto__, which is not taken.';
  const [name] = COLLECTIONS.find(([, collection]) => value instanceof collection) ?? [];
  return name && `is a ${name}, which JSON cannot represent; send an object or a list.`;
}

/**
 * Whether JSON represents the value exactly: no bytes, no name to escape, no `toJSON`. Copying other values
 * takes as long as the JSON.
 */
export function isPlain(value, depth) {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return typeof value !== 'bigint';
  if (depth > DEPTH_MAX || value instanceof ArrayBuffer || ArrayBuffer.isView(value)) return false;
  if (typeof value.toJSON === 'function' || value instanceof Promise) return false;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) if (!isPlain(value[index], depth + 1)) return false;
    return true;
  }
  if (Object.getPrototypeOf(value) !== Object.prototype && unsayable(value)) return false;
  for (const key of Object.keys(value)) if (isRaised(key) || !isPlain(value[key], depth + 1)) return false;
  return true;
}

function lowerObject(value, bytes, depth) {
  const lowered = {};
  for (const key of Object.keys(value)) {
    const item = lower(value[key], bytes, depth + 1);
    if (item !== undefined) lowered[isEscaped(key) ? `$${key}` : key] = item;
  }
  return lowered;
}

/** The value as JSON would represent it, with bytes extracted. Throws for values that JSON would change. */
export function lower(value, bytes, depth) {
  const problem = unsayable(value);
  if (problem) throw new TypeError(`A value ${problem}`);
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'number':
      return value;
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
  if (value instanceof Promise) throw new TypeError('A Promise cannot leave the sandbox; await it.');
  if (!Array.isArray(value)) return lowerObject(value, bytes, depth);
  return value.map((item) => lower(item, bytes, depth + 1) ?? null);
}

/** In place if no name changes: objects with many members are slow to build. */
function raiseObject(value, bytes) {
  const keys = Object.keys(value);
  const raised = keys.some(isRaised) ? {} : value;
  for (const key of keys) {
    if (key === '__proto__') throw new Error('The frame has a member named __proto__.');
    const item = value[key];
    if (raised !== value) raised[isEscaped(key) ? key.slice(1) : key] = raise(item, bytes);
    else if (typeof item === 'object') value[key] = raise(item, bytes);
  }
  return raised;
}

export function raise(value, bytes) {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) value[index] = raise(value[index], bytes);
    return value;
  }
  if (!Object.hasOwn(value, '$bytes')) return raiseObject(value, bytes);
  const found = Number.isInteger(value.$bytes) ? bytes[value.$bytes] : undefined;
  if (found === undefined) throw new Error('The frame points to bytes that it does not have.');
  return found;
}

/** Whether any name may have to be unescaped; a name may itself be written with escapes. */
export const mayRaise = (text) =>
  text.includes('$bytes"') || text.includes('__proto__"') || text.includes('\\u');

/**
 * Each element counts once. Each member of an object counts ten times, since its name takes longer to read and
 * to compare. Measured: 0.4 microseconds for an element, 4 for a member. Vectors have many elements.
 */
export const VALUES_MAX = 1_000_000;
const MEMBER_VALUES = 10;
/** The maximum nesting of objects and lists. */
export const DEPTH_MAX = 200;
/** The levels around each value: the list around every head, and the value in it. */
const DEPTH_AROUND = 2;

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const BACKSLASH = 92;
const LIST_OPENS = 91;
const LIST_CLOSES = 93;
const OBJECT_OPENS = 123;
const OBJECT_CLOSES = 125;

/**
 * By byte. Measured: a lookup in this table instead of seven comparisons takes 2 ns for a byte of a number, not
 * 10.
 */
const isQuiet = new Uint8Array(256).fill(1);
for (const byte of [QUOTE, COMMA, COLON, LIST_OPENS, LIST_CLOSES, OBJECT_OPENS, OBJECT_CLOSES])
  isQuiet[byte] = 0;

/** The index of the quote that ends a text, or of the end. */
function endOfText(json, start) {
  let at = start;
  for (; at < json.length && json[at] !== QUOTE; at++) if (json[at] === BACKSLASH) at++;
  return at;
}

/**
 * Counts the values and checks their depth; stops as soon as one of the limits is exceeded. Invalid JSON gives
 * an arbitrary count.
 */
export function measure(json) {
  let values = 0;
  let depth = 0;
  let deepest = 0;
  const { length } = json;
  for (let at = 0; at < length; at++) {
    const byte = json[at];
    // Most bytes belong to numbers and do not count
    if (isQuiet[byte] === 1) continue;
    if (byte === QUOTE) at = endOfText(json, at + 1);
    else if (byte === COMMA) values++;
    else if (byte === COLON) values += MEMBER_VALUES - 1;
    else if (byte === LIST_OPENS || byte === OBJECT_OPENS) {
      values++;
      depth++;
      if (depth > deepest) deepest = depth;
    } else if (byte === LIST_CLOSES || byte === OBJECT_CLOSES) depth--;
    if (values > VALUES_MAX || deepest > DEPTH_MAX + DEPTH_AROUND) break;
  }
  return { values, isTooDeep: deepest > DEPTH_MAX + DEPTH_AROUND };
}
