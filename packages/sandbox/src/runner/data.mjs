/**
 * Bytes in JSON: a value points to them by `$bytes`, and names that look so are escaped.
 *
 * And how much work JSON makes, seen from its bytes before it is read: JSON of 16 MiB may be one text, or five million
 * lists that hold up the loop for seconds. Both sides use this file, so that they agree.
 */

const ESCAPED = /^\$+bytes$/;
const DOLLAR = 36;
const isEscaped = (key) => key.charCodeAt(0) === DOLLAR && ESCAPED.test(key);
const isRaised = (key) => key === '__proto__' || isEscaped(key);

const viewOf = (value) =>
  value instanceof ArrayBuffer
    ? new Uint8Array(value)
    : new Uint8Array(value.buffer, value.byteOffset, value.byteLength);

/** What JSON would turn into an empty object. */
const COLLECTIONS = Object.entries({ Map, Set, WeakMap, WeakSet, RegExp });

/** What is wrong with a value that JSON would change without a word; undefined when nothing is. */
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
 * Whether JSON says it as it is: no bytes, no name to escape, nothing that speaks for itself. A copy for those that
 * have any takes as long as the JSON.
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

/** What JSON would make of a value, with bytes put aside. Throws for what JSON would change. */
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

/** In place where names stay as they are: objects of many members are slow to build. */
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

/** Whether any name may have to be raised; one may be spelled with escapes. */
export const mayRaise = (text) =>
  text.includes('$bytes"') || text.includes('__proto__"') || text.includes('\\u');

/**
 * Each element counts once, each member of an object as often as its name takes longer to read and to compare.
 * Measured: 0.4 microseconds for an element, 4 for a member; vectors are many elements.
 */
export const VALUES_MAX = 1_000_000;
const MEMBER_VALUES = 10;
/** Of the objects and lists in each other. */
export const DEPTH_MAX = 200;
/** The list around every head, and the value in it. */
const DEPTH_AROUND = 2;

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const BACKSLASH = 92;
const LIST_OPENS = 91;
const LIST_CLOSES = 93;
const OBJECT_OPENS = 123;
const OBJECT_CLOSES = 125;

/** By byte. Measured: a look at this table instead of seven comparisons: 2 ns for a byte of a number, not 10. */
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
 * How many values there are and how deep they lie; goes on no further than one of them allows. What is no JSON has
 * some number too.
 */
export function measure(json) {
  let values = 0;
  let depth = 0;
  let deepest = 0;
  const { length } = json;
  for (let at = 0; at < length; at++) {
    const byte = json[at];
    // Most bytes are of numbers and say nothing
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
