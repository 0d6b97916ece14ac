/** Payloads of the events of RFC 0118, which the public schemas lack. */
import Type from 'typebox';
import { Count, closedObject, optional, Positive } from '../schema.ts';

/** RFC 0118, which is active; older public schemas do not list these events. Closed, as it says. */
export const DISPATCH_EVENT_PAYLOADS = {
  'core.dispatch.fanOut': closedObject({
    fanOutPolicy: Type.Literal('parallel'),
    childCount: Type.Integer({ minimum: 2 }),
    maxConcurrency: optional(Positive),
    joinMode: optional(Type.Enum(['wait-all', 'quorum', 'first', 'race'])),
  }),
  /** `mergeOrder` is the order in which the parent heard of its children's ends; the last one wins. */
  'core.dispatch.join': closedObject({
    joinOutcome: Type.Enum(['satisfied', 'failed', 'partial']),
    completedCount: Count,
    failedCount: Count,
    cancelledCount: optional(Count),
    mergeOrder: Type.Array(Type.String()),
  }),
} as const;
