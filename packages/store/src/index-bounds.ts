import type { IndexRange } from './port.ts';

/** Sorts behind every other text, so that an open end is a range of an index too. */
export const AFTER_EVERY_TEXT = '\u{10ffff}';

/** From the first value, before the second. */
export function boundsOf({ prefix = '', from = prefix, to }: IndexRange): [from: string, to: string] {
  return [from, to ?? prefix + AFTER_EVERY_TEXT];
}
