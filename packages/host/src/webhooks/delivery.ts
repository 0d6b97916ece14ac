/** One event on its way to one subscription. */
import { hash } from 'node:crypto';
import { type DeliveryState, newId, timeOfId, type WebhookDelivery } from '@gantry/protocol';
import type { Stored } from '@gantry/resources';
import { type Attempts, attemptsView, DAY_MS, deliveryKinds } from '../deliveries/delivery.ts';

const SEQUENCE_BYTES = 5;
const HASH_DIGITS = 20;

export interface DeliveryRecord extends Attempts {
  readonly webhookId: string;
  readonly runId: string;
  readonly sequence: number;
  readonly type: string;
  readonly workspaceId: string;
  readonly resendOf?: string;
}

export type Delivery = Stored<DeliveryRecord>;

export const DELIVERIES = deliveryKinds<DeliveryRecord, DeliveryState>(
  { kind: 'delivery', idPrefix: 'whd', ref: ({ webhookId }) => webhookId },
  { pending: 0, delivered: 7 * DAY_MS, failed: 7 * DAY_MS, dead: 30 * DAY_MS },
);

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

export function deliveryView({ id, record }: Delivery, state: DeliveryState): WebhookDelivery {
  const { webhookId, runId, sequence, type, resendOf } = record;
  const event = { deliveryId: id, webhookId, runId, sequence, type, state };
  return { ...event, ...attemptsView(record), ...(resendOf !== undefined && { resendOf }) };
}
