import type { Json } from '@gantry/protocol';

/**
 * RFC 8785 JSON. For values that came out of `JSON.parse` that is JSON without spaces, numbers and texts as
 * `JSON.stringify` writes them, and keys in the order of their UTF-16 code units, which is `sort`'s own.
 */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key]!)}`).join(',')}}`;
}
