/** Pages of keys, in the order of their UTF-8 bytes. Threads load this file. */
import { prefixEnd } from '../../text.ts';

interface KeyPage {
  readonly prefix: string;
  readonly after: string | null;
  readonly limit: number;
}

/** A range with one beginning. Given two, SQLite walks from the lesser; measured: 370 ms for the last page of a million keys. */
export interface KeyBounds {
  readonly from: string;
  readonly operator: '>' | '>=';
  /** All are below it; null where every key behind `from` belongs to the range. */
  readonly end: string | null;
}

export function boundsOf({ prefix, after }: Omit<KeyPage, 'limit'>): KeyBounds {
  const end = prefixEnd(prefix);
  return after !== null && Buffer.compare(Buffer.from(after), Buffer.from(prefix)) >= 0
    ? { from: after, operator: '>', end }
    : { from: prefix, operator: '>=', end };
}

/** What one read of a listing looks at. Expired keys beyond it are left to the next one, so that others come in between. */
export const LOOKED_AT_MAX = 5_000;

/** Most pages meet few expired keys; PostgreSQL would plan for a larger bound. */
const firstLook = (limit: number): number => Math.min(2 * limit, LOOKED_AT_MAX);

export interface Stretch {
  readonly keys: readonly string[];
  /** The last key that was looked at; null where the page is whole or nothing is left. */
  readonly next: string | null;
}

/** A whole page, however many expired keys lie in between. */
export async function listStretches<Page extends KeyPage>(
  page: Page,
  look: (rest: Page, lookedAtMax: number) => Promise<Stretch>,
): Promise<string[]> {
  const { keys: found, next } = await look(page, firstLook(page.limit));
  const keys = [...found];
  for (let after = next; after !== null; ) {
    const stretch = await look({ ...page, after, limit: page.limit - keys.length }, LOOKED_AT_MAX);
    keys.push(...stretch.keys);
    after = stretch.next;
  }
  return keys;
}
