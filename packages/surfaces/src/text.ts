import type { Json } from '@gantry/protocol';

export const bytesOf = (text: string): number => Buffer.byteLength(text);
export const jsonBytes = (value: unknown): number => bytesOf(JSON.stringify(value));

const LAST_CODE_POINT = 0x10ffff;
const SURROGATES = { first: 0xd800, after: 0xe000 };

/**
 * The smallest text after every text with this prefix, by UTF-8 bytes; null if none. `prefix` is literal, no pattern.
 */
export function prefixEnd(prefix: string): string | null {
  const points = Array.from(prefix, (character) => character.codePointAt(0)!);
  while (points.at(-1) === LAST_CODE_POINT) points.pop();
  const last = points.pop();
  if (last === undefined) return null;
  const next = last + 1 === SURROGATES.first ? SURROGATES.after : last + 1;
  return String.fromCodePoint(...points, next);
}

/** Equal as JSON; the order of members is ignored. */
export function sameJson(left: Json, right: Json): boolean {
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null)
    return left === right;
  if (Array.isArray(left) || Array.isArray(right)) {
    return (
      Array.isArray(left) &&
      Array.isArray(right) &&
      left.length === right.length &&
      left.every((item, index) => sameJson(item, right[index]!))
    );
  }
  const names = Object.keys(left);
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => Object.hasOwn(right, name) && sameJson(left[name]!, right[name]!))
  );
}
