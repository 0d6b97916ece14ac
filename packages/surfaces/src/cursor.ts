/** Cursors of listings: opaque, and good only for the tenant and the listing that they came from. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { OpenwopError } from '@gantry/protocol';

/** What a cursor belongs to: the tenant first, then all that selects the listing. */
export type CursorScope = readonly [tenant: string, ...listing: string[]];

export interface Cursors {
  seal(scope: CursorScope, position: string): string;
  /** Throws `validation_error` for a cursor of another tenant or listing, or of nobody. */
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
      throw new OpenwopError('validation_error', {
        message: 'The cursor does not belong to this listing. Start again without one.',
      });
    },
  };
}
