/** `GET …/<resource>/changes`: what was created, changed and deleted in the last 7 days, without content. */
import { type Api, callerOf, readPayload } from '@gantry/http';
import {
  closedObject,
  FEED_PAGE,
  FeedChanges,
  invalid,
  OpenwopError,
  type Owner,
  type Wire,
} from '@gantry/protocol';
import { type RecordKind, workspaceOf } from '@gantry/resources';
import type { FeedReads, FeedRow } from '@gantry/store';
import Type from 'typebox';
import { pathsOf } from './resource-route.ts';

export interface FeedDeps {
  readonly store: { readonly feed: FeedReads };
  readonly now: () => number;
}

/** The kind of the records, as far as their feed needs it. */
export type FeedKind = Pick<RecordKind<never>, 'kind' | 'boundary'>;

const Query = closedObject({
  after: Type.Optional(Type.Integer({ minimum: 0 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: FEED_PAGE.max })),
});

export const changeOf = ({ id, version, op, actor, at }: FeedRow): object => ({
  id,
  version,
  op,
  ...(actor !== null && { actor }),
  at: new Date(at).toISOString(),
});

export const isSeenBy = ({ boundary }: FeedKind, { workspace }: Owner, row: FeedRow): boolean =>
  boundary !== 'workspace' || workspaceOf(row) === workspace;

export function changesRoute(app: Api, { store, now }: FeedDeps, wire: Wire, of: FeedKind): void {
  const { table, scopes } = wire;
  const schema = {
    summary: `Changes of ${table.path} after a number; without one, the number to begin with`,
    querystring: Query,
    response: { 200: FeedChanges },
  };
  const url = `${pathsOf(table).methods}/changes`;
  app.get(url, { schema, config: { access: scopes.read } }, async (request, reply) => {
    const { after, limit = FEED_PAGE.default } = request.query;
    const owner = callerOf(request);
    if (after === undefined)
      return readPayload(request, reply, JSON.stringify({ changes: [], next: await store.feed.last() }));
    const page = await pageAfter({ store, now }, after, { tenant: owner.tenant, kind: of.kind, limit });
    const changes = page.rows.filter((row) => isSeenBy(of, owner, row)).map(changeOf);
    return readPayload(request, reply, JSON.stringify({ changes, next: page.next }));
  });
}

/** Refuses a number from the future, and one whose changes are no longer kept. */
export async function pageAfter(
  { store, now }: FeedDeps,
  after: number,
  of: { readonly tenant: string; readonly kind: string; readonly limit: number },
) {
  const page = await store.feed.after(after, { ...of, now: now() });
  if (page && page.rows.length > 0) return page;
  const last = await store.feed.last();
  if (after > last)
    throw invalid(`There is no change ${after} yet; the last one is ${last}.`, {
      fields: [{ field: 'query/after', problem: `must be at most ${last}` }],
    });
  if (page) return page;
  throw new OpenwopError('cursor_expired', { details: { last } });
}
