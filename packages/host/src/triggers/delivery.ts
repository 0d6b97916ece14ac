/**
 * One event on its way to a run.
 *
 * I1  It is on disk before its sender hears that it was taken.
 * I2  It is pending exactly while it has a due time. Its end is one commit with what it ended in: the run, or
 *     the dead letter.
 */
import type { TriggerDelivery, TriggerEvent } from '@gantry/protocol';
import type { Entry, EntryKey, Write } from '@gantry/store';
import type { TriggerKey } from './subscription.ts';

export const DELIVERY = 'trigger-delivery';
const DEDUP = 'trigger-dedup';
const DELIVERED_KEPT_MS = 7 * 86_400_000;

export type DeliveryState =
  | { readonly status: 'pending'; readonly event: TriggerEvent; readonly lastReason?: string }
  /** The event is kept with the facts of the run. */
  | { readonly status: 'delivered'; readonly runId: string; readonly at: number }
  /** What was refused at the door leaves no event behind. */
  | {
      readonly status: 'dead-lettered';
      readonly reason: string;
      readonly at: number;
      readonly event?: TriggerEvent;
    };

export interface Delivery extends TriggerKey {
  readonly deliveryId: string;
  readonly receivedAt: number;
  readonly dueAt: number | null;
  readonly version: number;
  readonly dedupKey: string;
  readonly verified: boolean;
  readonly attempts: number;
  readonly state: DeliveryState;
}

type DeliveryBody = Pick<Delivery, 'dedupKey' | 'verified' | 'attempts' | 'state'>;

export const deliveryEntryKey = (tenant: string, deliveryId: string): EntryKey => ({
  kind: DELIVERY,
  tenant,
  id: deliveryId,
});

export function toDelivery({ tenant, id, ref, createdAt, dueAt, version, body }: Entry): Delivery {
  if (ref === null) throw new Error(`delivery ${id} hangs on no subscription`);
  const parsed: DeliveryBody = JSON.parse(body);
  return { ...parsed, tenant, deliveryId: id, subscriptionId: ref, receivedAt: createdAt, dueAt, version };
}

/** A new one with version 0, else a change of the version that was read. `deadUntil` is when a dead one goes. */
export function deliveryWrite(delivery: Delivery, deadUntil: number): Write {
  const { tenant, deliveryId, subscriptionId, receivedAt, dueAt, version, ...body } = delivery;
  return {
    kind: 'putEntry',
    entry: {
      ...deliveryEntryKey(tenant, deliveryId),
      ref: subscriptionId,
      dueAt,
      expiresAt: expiryOf(delivery.state, deadUntil),
      createdAt: receivedAt,
      body: JSON.stringify(body),
    },
    expectedVersion: version === 0 ? null : version,
  };
}

function expiryOf(state: DeliveryState, deadUntil: number): number | null {
  if (state.status === 'pending') return null;
  return state.status === 'delivered' ? state.at + DELIVERED_KEPT_MS : deadUntil;
}

/** What an event is known by, for as long as it is remembered. */
export interface Mark {
  readonly key: string;
  readonly expiresAt: number;
}

const markEntryKey = ({ tenant, subscriptionId }: TriggerKey, key: string): EntryKey => ({
  kind: DEDUP,
  tenant,
  id: `${subscriptionId}.${key}`,
});

/** Loses while the same event was taken before. The sweep forgets it, never earlier than `expiresAt`. */
export const markWrite = (delivery: Delivery, { key, expiresAt }: Mark): Write => ({
  kind: 'putEntry',
  entry: {
    ...markEntryKey(delivery, key),
    ref: delivery.deliveryId,
    dueAt: null,
    expiresAt,
    createdAt: delivery.receivedAt,
    body: '{}',
  },
  expectedVersion: null,
});

/** The delivery that took the event first, and its run if it has one and both are still kept. */
export async function firstDelivery(
  entries: { get(key: EntryKey): Promise<Entry | null> },
  key: TriggerKey,
  mark: Mark,
): Promise<{ deliveryId: string; runId?: string } | null> {
  const deliveryId = (await entries.get(markEntryKey(key, mark.key)))?.ref;
  if (!deliveryId) return null;
  const entry = await entries.get(deliveryEntryKey(key.tenant, deliveryId));
  const state = entry && toDelivery(entry).state;
  return { deliveryId, ...(state?.status === 'delivered' && { runId: state.runId }) };
}

const isoTime = (at: number): string => new Date(at).toISOString();

export function deliveryView(delivery: Delivery): TriggerDelivery {
  const { deliveryId, subscriptionId, dedupKey, verified, attempts, state, receivedAt, dueAt } = delivery;
  return {
    deliveryId,
    subscriptionId,
    state: state.status,
    dedupKey,
    verified,
    attempts,
    ...outcomeOf(delivery),
    receivedAt: isoTime(receivedAt),
    ...(dueAt !== null && { nextAttemptAt: isoTime(dueAt) }),
  };
}

function outcomeOf({ state, attempts }: Delivery): Partial<TriggerDelivery> {
  switch (state.status) {
    case 'pending':
      return {
        ...(attempts > 0 && { outcome: 'retrying' }),
        ...(state.lastReason !== undefined && { reason: state.lastReason }),
      };
    case 'delivered':
      return { outcome: 'delivered', runId: state.runId, finishedAt: isoTime(state.at) };
    case 'dead-lettered':
      return { outcome: 'dead-lettered', reason: state.reason, finishedAt: isoTime(state.at) };
  }
}
