/** Changes of resources, without their content. */
import Type, { type Static } from 'typebox';
import { Count, optional, Time } from './schema.ts';

export const FEED_PAGE = { default: 100, max: 1_000 } as const;

export const FeedChange = Type.Object({
  /** Of the item. */
  id: Type.String(),
  /** Its version after the change; of a deletion, the one that was deleted. */
  version: Count,
  op: Type.Enum(['create', 'update', 'delete']),
  /** The principal, or the run, that made it; absent for the host itself. */
  actor: optional(Type.String()),
  at: Time,
});
export type FeedChange = Static<typeof FeedChange>;

/** `next` is the last number that was read: a page may be empty and still go on. */
export const FeedChanges = Type.Object({ changes: Type.Array(FeedChange), next: Count });
export type FeedChanges = Static<typeof FeedChanges>;
