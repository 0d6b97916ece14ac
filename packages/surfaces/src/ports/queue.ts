/**
 * Messages of many tenants, by topic.
 *
 * I1  Nothing is ever seen or changed beyond `tenant`: topics, groups and handles of others do not exist.
 * I2  Every group gets every message, at least once, until it is acknowledged or dead-lettered for that group. A new
 *     group starts with the oldest message that is still kept.
 * I3  A delivery is its consumer's for `visibilityMs`. Then, or when it is requeued, the message is delivered again
 *     with a higher count and its handle is no longer valid: `queue_delivery_token_expired`.
 * I4  What is given back comes again. A consumer may declare `deliveriesMax`: a message that was delivered so often
 *     without success is not delivered to it, but goes to the dead letters of its topic, a topic like any other.
 *     Messages there are delivered until they are acknowledged. Subscriptions declare none: what one rejects comes
 *     again, later each time, until it is taken. All deliveries to a group count.
 * I5  A published message is on the disk when it is answered, and is kept for `retentionMs` whether it is consumed
 *     or not, so that streams can begin at the beginning. A full tenant is refused, with nothing thrown away that a
 *     group still waits for; what every group is done with makes room. A dead letter is never refused: its message
 *     was there already. What is refused reaches nobody.
 * I6  In one topic, messages are delivered in the order in which they were published, except those that come again.
 * I7  The same invocation gets its first answer and changes nothing. Payloads are not kept for it: when a message that
 *     it was given is gone by then, it gets an error that says so.
 * I8  What is consumed at once has at most 4 MiB (`LEASE_BYTES_MAX`).
 */

import type { Json } from '@gantry/protocol';
import type { PortRead, PortWrite } from '../calls/surface-call.ts';
import { type QuotaEntry, quotaOf } from '../quotas.ts';

export interface QueueBounds {
  readonly retentionMs: number;
  /** Of payloads and headers, for each tenant. */
  readonly quotaBytes: number;
  /** Of one topic. */
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
  /** For the log: what a subscription failed with. */
  readonly report: (fault: unknown) => void;
  readonly bounds?: QueueBounds;
  /** Where they differ from `bounds`. */
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
  /** Not delivered before; 0 for at once. Streams show it at once. */
  readonly delayMs: number;
}

export interface QueueMessage {
  /** Of the publishing invocation: what publishes again after a crash publishes the same message. */
  readonly messageId: string;
  readonly payload: Json;
  readonly headers: Readonly<Record<string, string>>;
}

export interface QueueDelivery extends QueueMessage {
  /** 1 at first. */
  readonly deliveryCount: number;
  /** For `settle`. Not a secret: the surface seals it before pack code sees it. */
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
  /** I4. */
  readonly deliveriesMax?: number | undefined;
  /** How long to wait for a first message; it may be less. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

export type QueueOutcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'again'; readonly delayMs: number }
  | { readonly kind: 'dead'; readonly reason: string };

export interface QueueSettled {
  /** That the message came from. */
  readonly topic: string;
  /** Whether it is a dead letter now. */
  readonly dead: boolean;
}

export interface QueueReading {
  readonly topic: string;
  readonly fromBeginning: boolean;
  /** Waits for what is yet to come, until the signal; else ends with what is there. */
  readonly follow: boolean;
  readonly signal: AbortSignal;
}

export interface QueueSubscription {
  /** Takes no further messages, and waits for those under way. */
  close(): Promise<void>;
}

export interface QueuePort {
  publish(draft: QueueDraft, call: PortWrite): Promise<{ messageId: string }>;
  consume(request: QueueRequest, call: PortWrite): Promise<readonly QueueDelivery[]>;
  settle(handle: string, outcome: QueueOutcome, call: PortWrite): Promise<QueueSettled>;
  /** Whether messages of it are kept, delivered or not. */
  hasTopic(topic: string, call: PortRead): Promise<boolean>;
  stream(reading: QueueReading, call: PortRead): AsyncIterable<QueueMessage>;
  /** Acknowledges a message when `onMessage` resolves, else it comes again (I4). Repeats have the same `messageId`. */
  subscribe(
    consumers: ConsumerGroup & { readonly tenant: string },
    onMessage: (message: QueueDelivery) => Promise<void>,
  ): QueueSubscription;
  /** Rejects with `queue_backend_unavailable`. */
  health(): Promise<void>;
  /** Deletes what is past its time; answers how much it was. */
  sweep(now: number): Promise<number>;
  close(): Promise<void>;
}
