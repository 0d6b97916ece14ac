/**
 * One event on its way to one subscription. Its state is its kind, so that each state can be listed by itself:
 * a lane reads what is pending, oldest first, and never what is done.
 */
import type { DeliveryState, WebhookDelivery } from '@gantry/protocol';
import type { Entry, EntryKey, Write } from '@gantry/store';

export const PENDING = 'delivery';

export const DELIVERY_KINDS = {
  pending: PENDING,
  delivered: 'delivery-delivered',
  failed: 'delivery-failed',
  dead: 'delivery-dead',
} as const satisfies Record<DeliveryState, string>;

export type FinishedState = Exclude<DeliveryState, 'pending'>;

const KEPT_MS: Readonly<Record<FinishedState, number>> = {
  delivered: 7 * 86_400_000,
  failed: 7 * 86_400_000,
  dead: 30 * 86_400_000,
};

interface LastAttempt {
  readonly at: number;
  readonly status?: number;
  readonly reason?: string;
}

interface DeliveryBody {
  readonly runId: string;
  readonly sequence: number;
  readonly type: string;
  readonly workspaceId: string;
  /** Claims so far: an attempt that died with its process counts. */
  readonly attempts: number;
  readonly last?: LastAttempt;
  readonly finishedAt?: number;
  readonly resendOf?: string;
}

export interface Delivery extends DeliveryBody {
  readonly tenant: string;
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly createdAt: number;
  /** When the next attempt may start, or a claim ends; null when finished. */
  readonly dueAt: number | null;
  readonly version: number;
}

export function toDelivery({ tenant, id, ref, createdAt, dueAt, version, body }: Entry): Delivery {
  if (ref === null) throw new Error(`delivery ${id} hangs on no webhook`);
  const parsed: DeliveryBody = JSON.parse(body);
  return { ...parsed, tenant, deliveryId: id, webhookId: ref, createdAt, dueAt, version };
}

export const deliveryKey = (
  { tenant, deliveryId }: Pick<Delivery, 'tenant' | 'deliveryId'>,
  state: DeliveryState,
): EntryKey => ({ kind: DELIVERY_KINDS[state], tenant, id: deliveryId });

/** A new one with version 0, else a change of the version that was read. */
export const pendingWrite = (delivery: Delivery): Write => put(delivery, 'pending', null);

/** Out of the lane and into the list of what is done. */
export const finishWrites = (delivery: Delivery, state: FinishedState, now: number): Write[] => [
  removeWrite(delivery),
  put({ ...delivery, dueAt: null, finishedAt: now, version: 0 }, state, now + KEPT_MS[state]),
];

export const removeWrite = (delivery: Delivery): Write => ({
  kind: 'deleteEntry',
  key: deliveryKey(delivery, 'pending'),
  expectedVersion: delivery.version,
});

function put(delivery: Delivery, state: DeliveryState, expiresAt: number | null): Write {
  const { tenant, deliveryId, webhookId, createdAt, dueAt, version, ...body } = delivery;
  const key = deliveryKey({ tenant, deliveryId }, state);
  return {
    kind: 'putEntry',
    entry: { ...key, ref: webhookId, dueAt, expiresAt, createdAt, body: JSON.stringify(body) },
    expectedVersion: version === 0 ? null : version,
  };
}

const isoTime = (at: number): string => new Date(at).toISOString();

export function deliverySummary(delivery: Delivery, state: DeliveryState): WebhookDelivery {
  const { deliveryId, webhookId, runId, sequence, type, attempts, last, finishedAt, resendOf } = delivery;
  return {
    deliveryId,
    webhookId,
    runId,
    sequence,
    type,
    state,
    attempts,
    ...(last?.status !== undefined && { lastStatus: last.status }),
    ...(last?.reason !== undefined && { lastReason: last.reason }),
    ...(last && { lastAttemptAt: isoTime(last.at) }),
    ...(delivery.dueAt !== null && { nextAttemptAt: isoTime(delivery.dueAt) }),
    ...(finishedAt !== undefined && { finishedAt: isoTime(finishedAt) }),
    ...(resendOf !== undefined && { resendOf }),
    createdAt: isoTime(delivery.createdAt),
  };
}
