/** A message as a delivery of its subscription, with the mark that it was taken. */
import { hash } from 'node:crypto';
import { newId } from '@gantry/protocol';
import { type Entry, type EntryKey, storedEntry, type Write } from '@gantry/store';
import type { QueueDelivery } from '@gantry/surfaces';
import { type Delivery, deliveryWrite, markWrite } from '../delivery.ts';
import type { QueueSubscription } from '../subscription.ts';

/** Longer than any backend keeps a message that could come again. */
const MARK_KEPT_MS = 8 * 86_400_000;

export interface ArrivalOptions {
  readonly now: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  /** What packs may acknowledge instead of the message, which is acknowledged by then. */
  readonly receiptOf: (tenant: string, messageId: string) => string;
}

export interface Arrival {
  /** The delivery, not kept yet. */
  readonly entry: Entry;
  /** Loses when the message was taken before. */
  readonly mark: Write;
  readonly markKey: EntryKey;
}

export function arrivalOf(
  { now, randomBytes, receiptOf }: ArrivalOptions,
  { tenant, subscriptionId, topic }: QueueSubscription,
  { messageId, payload, headers }: QueueDelivery,
): Arrival {
  const at = now();
  const event = { payload, headers: { ...headers }, messageId: receiptOf(tenant, messageId) };
  const delivery: Delivery = {
    tenant,
    subscriptionId,
    deliveryId: newId('dlv', at, randomBytes),
    verified: false,
    receivedAt: at,
    dueAt: at,
    dedupKey: keyOf(topic, messageId),
    attempts: 0,
    version: 0,
    state: { status: 'pending', event },
  };
  const mark = markWrite(delivery, { key: delivery.dedupKey, expiresAt: at + MARK_KEPT_MS });
  return { entry: entryOf(deliveryWrite(delivery, 0)), mark, markKey: entryOf(mark) };
}

function entryOf(write: Write): Entry {
  if (write.kind !== 'putEntry') throw new Error(`${write.kind} puts no entry`);
  return storedEntry(write.entry, 0);
}

/** Beside the subscription, which the mark names as well. */
const keyOf = (topic: string, messageId: string): string =>
  hash('sha256', `queue\0${topic}\0${messageId}`, 'hex').slice(0, 32);
