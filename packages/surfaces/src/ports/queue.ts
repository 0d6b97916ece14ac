/**
 * Messages of many tenants, by topic.
 *
 * I1  No call sees or changes anything outside its `tenant`: topics, groups and handles of others do not exist.
 * I2  Every group gets every message, at least once, until it is acknowledged or dead-lettered for that group.
 *     A new group starts with the oldest retained message.
 * I3  A consumer holds a delivery for `visibilityMs`. After that, or when it is requeued, the message is
 *     delivered again with a higher count and the handle is no longer valid: `queue_delivery_token_expired`.
 * I4  A rejected message is delivered again. A consumer may declare `deliveriesMax`: a message that was
 *     delivered that often without success is not delivered to it, but moved to the dead letters of its topic,
 *     which are a topic like any other. Messages there are delivered until they are acknowledged.
 *     Subscriptions declare no limit: a rejected message is delivered again, later each time, until it is
 *     accepted. All deliveries to a group count.
 * I5  A published message is on disk when it is answered, and is kept for `retentionMs` whether it is consumed
 *     or not, so that streams can start at the beginning. Publishing to a full tenant is refused, and nothing
 *     is deleted that a group has not settled; messages that every group has settled are deleted to free
 *     space. A dead letter is never refused: its message already counted. A refused message is delivered to no
 *     consumer.
 * I6  In one topic, messages are delivered in the order in which they were published, except redeliveries.
 * I7  A repeated invocation gets its first answer and changes nothing. Payloads are not recorded for it: if a
 *     message of the answer no longer exists, it gets an error that reports this.
 * I8  One call consumes at most 4 MiB (`LEASE_BYTES_MAX`).
 */

import type { Json } from '@gantry/protocol';
import type { PortRead, PortWrite } from '../calls/surface-call.ts';
import { type QuotaEntry, quotaOf } from '../quotas.ts';

export interface QueueBounds {
  readonly retentionMs: number;
  /** Total of payloads and headers per tenant. */
  readonly quotaBytes: number;
  /** Per topic. */
  readonly groupsMax: number;
}

const DAY_MS = 86_400_000;

export const QUEUE_BOUNDS: QueueBounds = {
  retentionMs: 7 * DAY_MS,
  quotaBytes: 268_435_456,
  groupsMax: 100,
};

export interface QueueDeps {
  readonly now: () => number;
  /** Logs errors of subscriptions. */
  readonly report: (fault: unknown) => void;
  readonly bounds?: QueueBounds;
  /** Quotas that differ from `bounds`. */
  readonly quotas?: readonly QuotaEntry[];
}

export type BoundsOf = (tenant: string) => QueueBounds;

export function boundsOf({ bounds = QUEUE_BOUNDS, quotas }: QueueDeps): BoundsOf {
  const quota = quotaOf(quotas, 'queue', bounds.quotaBytes);
  return (tenant) => ({ ...bounds, quotaBytes: quota(tenant) });
}

export interface QueueDraft {
  readonly topic: string;
  readonly payload: Json;
  readonly headers: Readonly<Record<string, string>>;
  /** The delay before delivery; 0 for none. Streams return the message at once. */
  readonly delayMs: number;
}

export interface QueueMessage {
  /** Derived from the publishing invocation: a repeat after a crash publishes the same message. */
  readonly messageId: string;
  readonly payload: Json;
  readonly headers: Readonly<Record<string, string>>;
}

export interface QueueDelivery extends QueueMessage {
  /** Starts at 1. */
  readonly deliveryCount: number;
  /** For `settle`. Not a secret: the surface seals it for pack code. */
  readonly handle: string;
}

export interface ConsumerGroup {
  readonly topic: string;
  /** Empty for the default group. */
  readonly group: string;
}

export interface QueueRequest extends ConsumerGroup {
  readonly messagesMax: number;
  readonly visibilityMs: number;
  /** See I4. */
  readonly deliveriesMax?: number | undefined;
  /** The longest time to wait for a first message. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

export type QueueOutcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'again'; readonly delayMs: number }
  /** Not settled yet: the consumer holds it that much longer. */
  | { readonly kind: 'held'; readonly visibilityMs: number }
  | { readonly kind: 'dead'; readonly reason: string };

export interface QueueSettled {
  /** The topic of the message. */
  readonly topic: string;
  /** Whether the message is now a dead letter. */
  readonly dead: boolean;
}

export interface QueueReading {
  readonly topic: string;
  readonly fromBeginning: boolean;
  /** Waits for new messages until the signal; otherwise ends after the existing ones. */
  readonly follow: boolean;
  readonly signal: AbortSignal;
}

export interface QueueSubscription {
  /** Accepts no further messages, and waits for those in progress. */
  close(): Promise<void>;
}

export interface QueuePort {
  publish(draft: QueueDraft, call: PortWrite): Promise<{ messageId: string }>;
  consume(request: QueueRequest, call: PortWrite): Promise<readonly QueueDelivery[]>;
  settle(handle: string, outcome: QueueOutcome, call: PortWrite): Promise<QueueSettled>;
  /** Whether the topic has retained messages, delivered or not. */
  hasTopic(topic: string, call: PortRead): Promise<boolean>;
  stream(reading: QueueReading, call: PortRead): AsyncIterable<QueueMessage>;
  /**
   * Acknowledges a message when `onMessage` resolves, else redelivers it (I4). Redeliveries have the same `messageId`.
   * Holds it until then, however long that takes; what a dead process held is free after seconds.
   */
  subscribe(
    consumers: ConsumerGroup & { readonly tenant: string },
    onMessage: (message: QueueDelivery) => Promise<void>,
  ): QueueSubscription;
  /** Rejects with `queue_backend_unavailable`. */
  health(): Promise<void>;
  /** Deletes expired data; answers the number of deleted items. */
  sweep(now: number): Promise<number>;
  close(): Promise<void>;
}
