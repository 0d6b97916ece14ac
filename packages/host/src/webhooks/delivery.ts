/** One event on its way to one subscription. */
import { hash } from 'node:crypto';
import { type DeliveryState, newId, timeOfId, type WebhookDelivery } from '@gantry/protocol';
import type { Stored } from '@gantry/resources';
import { type Attempts, attemptsView, DAY_MS, deliveryKinds } from '../deliveries/delivery.ts';

export type EventSource = { readonly runId: string } | { readonly heartbeatId: string };

export const idOfSource = (source: EventSource): string =>
  'runId' in source ? source.runId : source.heartbeatId;

const SEQUENCE_BYTES = 5;
const HASH_DIGITS = 20;

export interface DeliveryRecord extends Attempts {
  readonly webhookId: string;
  /** Whose event it is. */
  readonly source: EventSource;
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
  event: Pick<DeliveryRecord, 'webhookId' | 'source' | 'sequence' | 'type'>,
): string {
  const { webhookId, sequence, type } = event;
  const sourceId = idOfSource(event.source);
  const position = Buffer.alloc(SEQUENCE_BYTES);
  position.writeUIntBE(sequence, 0, SEQUENCE_BYTES);
  const digest = hash('sha256', [webhookId, sourceId, sequence, type].join('\0'), 'hex').slice(
    0,
    HASH_DIGITS,
  );
  return newId('whd', timeOfId(sourceId) ?? 0, () => Buffer.concat([position, Buffer.from(digest, 'hex')]));
}

export function deliveryView({ id, record }: Delivery, state: DeliveryState): WebhookDelivery {
  const { webhookId, source, sequence, type, resendOf } = record;
  const event = { deliveryId: id, webhookId, ...source, sequence, type, state };
  return { ...event, ...attemptsView(record), ...(resendOf !== undefined && { resendOf }) };
}
