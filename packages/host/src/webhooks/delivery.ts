/**
 * One event on its way to one subscription. Its state is its kind, so that each state can be listed by itself:
 * a lane reads what is pending, oldest first, and never what is done.
 */
import { hash } from 'node:crypto';
import { type DeliveryState, newId, timeOfId, type WebhookDelivery } from '@gantry/protocol';
import type { Change, RecordKind, Stored } from '@gantry/resources';

const DAY_MS = 86_400_000;
const SEQUENCE_BYTES = 5;
const HASH_DIGITS = 20;

export interface DeliveryRecord {
  readonly webhookId: string;
  readonly runId: string;
  readonly sequence: number;
  readonly type: string;
  readonly workspaceId: string;
  readonly createdAt: number;
  /** When the next attempt may start, or a claim ends; null when finished. */
  readonly dueAt: number | null;
  /** Claims so far: an attempt that died with its process counts. */
  readonly attempts: number;
  readonly last?: { readonly at: number; readonly status?: number; readonly reason?: string };
  readonly finishedAt?: number;
  readonly resendOf?: string;
}

export type Delivery = Stored<DeliveryRecord>;

const kindOf = (kind: string, keptMs: number): RecordKind<DeliveryRecord> => ({
  kind,
  idPrefix: 'whd',
  ref: ({ webhookId }) => webhookId,
  dueAt: ({ dueAt }) => dueAt,
  expiresAt: ({ finishedAt }) => (finishedAt === undefined ? null : finishedAt + keptMs),
});

export const DELIVERIES = {
  pending: kindOf('delivery', 0),
  delivered: kindOf('delivery-delivered', 7 * DAY_MS),
  failed: kindOf('delivery-failed', 7 * DAY_MS),
  dead: kindOf('delivery-dead', 30 * DAY_MS),
} as const satisfies Record<DeliveryState, RecordKind<DeliveryRecord>>;

/** What a delivery becomes. */
export interface NextDelivery {
  readonly state: DeliveryState;
  readonly record: DeliveryRecord;
}

export const finished = (
  record: DeliveryRecord,
  state: Exclude<DeliveryState, 'pending'>,
  now: number,
): NextDelivery => ({ state, record: { ...record, dueAt: null, finishedAt: now } });

/** Null removes it. False, and nothing is written, when another has changed it since. */
export async function settleDelivery(
  change: Change,
  { id, version }: Delivery,
  next: NextDelivery | null,
): Promise<boolean> {
  const current = await change.find(DELIVERIES.pending, id);
  if (current?.version !== version) return false;
  if (next?.state === 'pending') change.replace(current, next.record);
  else change.delete(current);
  if (next && next.state !== 'pending') change.create(DELIVERIES[next.state], next.record, id);
  return true;
}

/**
 * The id of the delivery of an event to a subscription: the same wherever and whenever it is made, so that receivers
 * recognise an event that a restored host sends again. Ids sort by the start of the run, then by sequence.
 */
export function deliveryIdOf(
  event: Pick<DeliveryRecord, 'webhookId' | 'runId' | 'sequence' | 'type'>,
): string {
  const { webhookId, runId, sequence, type } = event;
  const position = Buffer.alloc(SEQUENCE_BYTES);
  position.writeUIntBE(sequence, 0, SEQUENCE_BYTES);
  const digest = hash('sha256', [webhookId, runId, sequence, type].join('\0'), 'hex').slice(0, HASH_DIGITS);
  return newId('whd', timeOfId(runId) ?? 0, () => Buffer.concat([position, Buffer.from(digest, 'hex')]));
}

const isoTime = (at: number): string => new Date(at).toISOString();

export function deliveryView({ id, record }: Delivery, state: DeliveryState): WebhookDelivery {
  const { webhookId, runId, sequence, type, attempts, last, finishedAt, dueAt, resendOf, createdAt } = record;
  return {
    deliveryId: id,
    webhookId,
    runId,
    sequence,
    type,
    state,
    attempts,
    ...(last?.status !== undefined && { lastStatus: last.status }),
    ...(last?.reason !== undefined && { lastReason: last.reason }),
    ...(last && { lastAttemptAt: isoTime(last.at) }),
    ...(dueAt !== null && { nextAttemptAt: isoTime(dueAt) }),
    ...(finishedAt !== undefined && { finishedAt: isoTime(finishedAt) }),
    ...(resendOf !== undefined && { resendOf }),
    createdAt: isoTime(createdAt),
  };
}
