/** Pages of listings, and their cursors: opaque, and valid only for the tenant and listing that issued them. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { invalid } from '@gantry/protocol';
import { pageSize } from './schema.ts';

/** The scope of a cursor: the tenant first, then everything that selects the listing. */
export type CursorScope = readonly [tenant: string, ...listing: string[]];

export interface Cursors {
  seal(scope: CursorScope, position: string): string;
  /** Throws `validation_error` for a cursor of another tenant or listing, and for a forged one. */
  open(scope: CursorScope, cursor: string): string;
}

const TAG_BYTES = 16;

export function createCursors(key: Uint8Array): Cursors {
  const tagOf = (scope: CursorScope, position: string): Buffer =>
    createHmac('sha256', key)
      .update(JSON.stringify([...scope, position]))
      .digest()
      .subarray(0, TAG_BYTES);
  return {
    seal: (scope, position) =>
      Buffer.concat([tagOf(scope, position), Buffer.from(position)]).toString('base64url'),
    open(scope, cursor) {
      const bytes = Buffer.from(cursor, 'base64url');
      const position = bytes.subarray(TAG_BYTES).toString();
      const tag = bytes.subarray(0, TAG_BYTES);
      const ours = tagOf(scope, position);
      if (tag.length === TAG_BYTES && timingSafeEqual(tag, ours)) return position;
      throw invalid('The cursor does not belong to this listing. Start again without one.');
    },
  };
}

interface Asked {
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
}

interface Listing<Entry> {
  readonly scope: CursorScope;
  /** In key order, after `after`. */
  list(range: { readonly after: string | null; readonly limit: number }): Promise<readonly Entry[]>;
  keyOf(entry: Entry): string;
}

/** A page of a listing by key. The next page starts after its last entry. */
export async function pageByKey<Entry>(
  cursors: Cursors,
  { cursor, limit: asked }: Asked,
  { scope, list, keyOf }: Listing<Entry>,
): Promise<{ readonly page: readonly Entry[]; readonly nextCursor?: string }> {
  const limit = pageSize(asked);
  const after = cursor === undefined ? null : cursors.open(scope, cursor);
  const found = await list({ after, limit: limit + 1 });
  const page = found.slice(0, limit);
  if (found.length === page.length) return { page };
  return { page, nextCursor: cursors.seal(scope, keyOf(page.at(-1)!)) };
}
