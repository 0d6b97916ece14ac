import type { IndexRange } from './port.ts';

/** Sorts after every other text, so that an open-ended range is a range of an index too. */
export const AFTER_EVERY_TEXT = '\u{10ffff}';

/** The first value is inclusive, the second exclusive. */
export function boundsOf({ prefix = '', from = prefix, to }: IndexRange): [from: string, to: string] {
  return [from, to ?? prefix + AFTER_EVERY_TEXT];
}
