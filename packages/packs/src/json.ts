import { isObject, type Json, type JsonObject } from '@gantry/protocol';

/** The read-only form of a schema's type. */
export type Frozen<T> = T extends object ? { readonly [Key in keyof T]: Frozen<T[Key]> } : T;

/** For a value that a schema has validated as JSON; its TypeBox type is `unknown`. */
export const asJson = (value: unknown): Json => value as Json;

/** Undefined for bytes that are not UTF-8. */
export function utf8Of(bytes: Uint8Array, options: { ignoreBOM?: boolean } = {}): string | undefined {
  try {
    return new TextDecoder('utf-8', { ...options, fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Undefined for text that is not JSON. */
export function jsonOf(source: Uint8Array | string): unknown {
  try {
    return JSON.parse(typeof source === 'string' ? source : Buffer.from(source).toString('utf8'));
  } catch {
    return undefined;
  }
}

/** The index of the first duplicate; -1 if all differ. */
export function indexOfDuplicate(texts: readonly string[]): number {
  const seen = new Set<string>();
  return texts.findIndex((text) => seen.size === seen.add(text).size);
}

/** Own properties only: data may contain any key, including `constructor`. */
export const own = (value: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(value, key) ? value[key] : undefined;

/** Replaces each string with the result of `leaf`, and keeps the rest. The depth of the data is bounded. */
export function mapStrings(value: Json, leaf: (text: string) => Json): Json {
  if (typeof value === 'string') return leaf(value);
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, leaf));
  return isObject(value) ? mapObjectStrings(value, leaf) : value;
}

export function mapObjectStrings(object: JsonObject, leaf: (text: string) => Json): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, item]) => [key, mapStrings(item, leaf)]));
}

export interface JsonBounds {
  readonly depthMax: number;
  /** Characters of all strings and keys together, plus one for each value. */
  readonly sizeMax: number;
}

/** Why external data is refused: too deep, too large, or a key that would set a prototype. */
export function boundsIssue(value: unknown, bounds: JsonBounds): string | undefined {
  let size = 0;
  const visit = (part: unknown, depth: number): string | undefined => {
    size += typeof part === 'string' ? part.length : 1;
    if (size > bounds.sizeMax) return `is larger than ${bounds.sizeMax} characters`;
    if (typeof part !== 'object' || part === null) return undefined;
    if (depth > bounds.depthMax) return `is nested deeper than ${bounds.depthMax}`;
    for (const [key, child] of Object.entries(part)) {
      if (key === '__proto__') return 'has a key __proto__';
      size += key.length;
      const issue = visit(child, depth + 1);
      if (issue !== undefined) return issue;
    }
    return undefined;
  };
  return visit(value, 0);
}
