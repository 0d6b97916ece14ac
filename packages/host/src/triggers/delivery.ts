/**
 * One event on its way to a run.
 *
 * I1  It is committed before its sender is answered.
 * I2  It is pending exactly while it has a due time. Its end is one commit with what it ended in: the run, or
 *     the dead letter.
 */
import { isoTime, type TriggerDelivery, type TriggerEvent } from '@gantry/protocol';
import type { RecordKind, Stored } from '@gantry/resources';

const DELIVERED_KEPT_MS = 7 * 86_400_000;

export interface PendingState {
  readonly status: 'pending';
  readonly event: TriggerEvent;
  readonly dueAt: number;
  readonly lastReason?: string;
  /** Due when they are there, or without them when it takes too long. */
  readonly waitsFor?: 'attachments';
}

export type DeliveryState =
  | PendingState
  /** The event is kept with the facts of the run. */
  | { readonly status: 'delivered'; readonly runId: string; readonly at: number }
  /** The content of a refused event is not stored. */
  | {
      readonly status: 'dead-lettered';
      readonly reason: string;
      readonly at: number;
      readonly until: number;
      readonly event?: TriggerEvent;
    };

export interface DeliveryRecord {
  readonly subscriptionId: string;
  readonly dedupKey: string;
  readonly verified: boolean;
  readonly attempts: number;
  readonly state: DeliveryState;
  /** Attachments that could not be fetched. */
  readonly dropped?: TriggerDelivery['droppedAttachments'];
}

export type Delivery = Stored<DeliveryRecord>;

export const deliveries: RecordKind<DeliveryRecord> = {
  kind: 'trigger-delivery',
  idPrefix: 'dlv',
  ref: ({ subscriptionId }) => subscriptionId,
  dueAt: ({ state }) => (state.status === 'pending' ? state.dueAt : null),
  expiresAt: ({ state }) => {
    if (state.status === 'pending') return null;
    return state.status === 'delivered' ? state.at + DELIVERED_KEPT_MS : state.until;
  },
};

/** Records that an event was accepted; retention deletes it, never earlier than `until`. */
export const marks: RecordKind<{ readonly deliveryId: string; readonly until: number }> = {
  kind: 'trigger-dedup',
  idPrefix: 'mark',
  expiresAt: ({ until }) => until,
};

/** `key`: what the event is known by. */
export const markId = (subscriptionId: string, key: string): string => `${subscriptionId}.${key}`;

export function deliveryView({ id, createdAt, record }: Delivery): TriggerDelivery {
  const { subscriptionId, dedupKey, verified, attempts, state, dropped } = record;
  return {
    deliveryId: id,
    subscriptionId,
    state: state.status,
    dedupKey,
    verified,
    attempts,
    ...outcomeOf(record),
    receivedAt: isoTime(createdAt),
    ...(state.status === 'pending' && { nextAttemptAt: isoTime(state.dueAt) }),
    ...(dropped && { droppedAttachments: dropped }),
  };
}

function outcomeOf({ state, attempts }: DeliveryRecord): Partial<TriggerDelivery> {
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
