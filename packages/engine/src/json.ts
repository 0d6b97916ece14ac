import { isObject, type Json, type JsonObject, type RunError } from '@gantry/protocol';

/** Data nested deeper than this is never compared or measured, so that recursion cannot overflow the stack. */
const DEPTH_MAX = 400;

/** For a value that a schema has already validated as JSON; its TypeBox type is `unknown`. */
export const asJson = (value: unknown): Json => value as Json;

export { isObject };

/** The own property, or undefined: data may contain any key, even `constructor`. */
export const own = (value: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(value, key) ? value[key] : undefined;

/** Whether plain objects already have this name; ids and ports must not use such names. */
export const isReservedName = (name: string): boolean => name in Object.prototype;

/** Copies data key by key, except `__proto__`, which would set the prototype. */
export function copyInto(target: JsonObject, source: JsonObject): void {
  for (const key of Object.keys(source)) if (key !== '__proto__') target[key] = source[key]!;
}

/** `isSame` decides whether two strings count as equal. */
export function deepEqual(
  left: Json | undefined,
  right: Json | undefined,
  isSame?: (left: string, right: string) => boolean,
  depth = 0,
): boolean {
  if (left === right) return true;
  if (isSame && typeof left === 'string' && typeof right === 'string') return isSame(left, right);
  if (typeof left !== 'object' || typeof right !== 'object') return false;
  if (left === null || right === null || depth > DEPTH_MAX) return false;
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, index) => deepEqual(item, right[index], isSame, depth + 1));
  }
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every(
    (key) => Object.hasOwn(right, key) && deepEqual(left[key], right[key], isSame, depth + 1),
  );
}

/**
 * The approximate length of `value` as JSON; stops counting past `max`. A value can contain the same large
 * string many times, so its size in memory does not tell its size on disk.
 */
export function jsonSize(value: Json | undefined, max: number, depth = 0): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 5;
  if (depth > DEPTH_MAX) return Number.POSITIVE_INFINITY;
  let size = 2;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && size <= max; i++)
      size += 1 + jsonSize(value[i], max - size, depth + 1);
    return size;
  }
  for (const key in value) {
    size += key.length + 4 + jsonSize(value[key], max - size, depth + 1);
    if (size > max) return size;
  }
  return size;
}

/** The maximum size of an event: a short definition can repeat a value many times. */
const PAYLOAD_MAX = 16 * 1_048_576;

export const isTooLarge = (values: JsonObject): boolean => jsonSize(values, PAYLOAD_MAX) > PAYLOAD_MAX;

export const tooLarge = (what: string): RunError => ({
  code: 'payload_too_large',
  message: `${what} are larger than 16 MiB, or nested deeper than ${DEPTH_MAX} levels.`,
});

/** Whether `text` contains `part`, in linear time for any input. */
export function includesText(text: string, part: string): boolean {
  return indexOfText(text, part, 0) !== -1;
}

/**
 * V8's own search is quadratic at worst (a megabyte of `a` searched for half a megabyte of `a` with one `b` in
 * front takes minutes), so larger searches use the Knuth-Morris-Pratt algorithm.
 */
export function indexOfText(text: string, part: string, from: number): number {
  if (part.length > text.length - from) return -1;
  if ((text.length - from) * part.length <= 1_000_000 || part.length < 8) return text.indexOf(part, from);
  const borders = bordersOf(part);
  let matched = 0;
  for (let i = from; i < text.length; i++) {
    const code = text.charCodeAt(i);
    while (matched > 0 && code !== part.charCodeAt(matched)) matched = borders[matched - 1]!;
    if (code === part.charCodeAt(matched)) matched++;
    if (matched === part.length) return i - matched + 1;
  }
  return -1;
}

function bordersOf(part: string): Uint32Array {
  const borders = new Uint32Array(part.length);
  let length = 0;
  for (let i = 1; i < part.length; i++) {
    while (length > 0 && part.charCodeAt(i) !== part.charCodeAt(length)) length = borders[length - 1]!;
    if (part.charCodeAt(i) === part.charCodeAt(length)) length++;
    borders[i] = length;
  }
  return borders;
}
