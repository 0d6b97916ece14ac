/** Pages of keys, in the order of their UTF-8 bytes. Threads load this file. */
import { prefixEnd } from '../../text.ts';

interface KeyPage {
  readonly prefix: string;
  readonly after: string | null;
  readonly limit: number;
}

/**
 * A range with one lower bound. With two, SQLite walks from the lesser; measured: 370 ms for the last page of
 * a million keys.
 */
export interface KeyBounds {
  readonly from: string;
  readonly operator: '>' | '>=';
  /** The exclusive upper bound; null if every key after `from` is in the range. */
  readonly end: string | null;
}

export function boundsOf({ prefix, after }: Omit<KeyPage, 'limit'>): KeyBounds {
  const end = prefixEnd(prefix);
  return after !== null && Buffer.compare(Buffer.from(after), Buffer.from(prefix)) >= 0
    ? { from: after, operator: '>', end }
    : { from: prefix, operator: '>=', end };
}

/**
 * The most keys that one read of a listing scans. Expired keys beyond it are left to the next read, so that
 * other calls can run.
 */
export const LOOKED_AT_MAX = 5_000;

/** Most pages contain few expired keys; PostgreSQL would plan for a larger limit. */
const firstLook = (limit: number): number => Math.min(2 * limit, LOOKED_AT_MAX);

export interface Stretch {
  readonly keys: readonly string[];
  /** The last key that was read; null if the page is full or no keys are left. */
  readonly next: string | null;
}

/** Returns a full page, however many expired keys are in between. */
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
