import type { Json } from '@gantry/protocol';

/** How the host shows a value that this key may not see. */
const MASKED = /^\[REDACTED(:[^\]]*)?\]$/;

export const isMasked = (value: Json): boolean => typeof value === 'string' && MASKED.test(value);

/** The parts of a value; undefined for one that has none. */
export function membersOf(value: Json): readonly (readonly [string, Json])[] | undefined {
  if (Array.isArray(value)) return value.map((each, at) => [String(at), each] as const);
  return typeof value === 'object' && value !== null ? Object.entries(value) : undefined;
}
