import { hash } from 'node:crypto';
import { newId, timeOfId } from '@gantry/protocol';
import type { Delivery } from './delivery.ts';

const SEQUENCE_BYTES = 5;
const HASH_DIGITS = 20;

/**
 * The id of the delivery of an event to a subscription: the same wherever and whenever it is made, so that receivers
 * recognise an event that a restored host sends again. Ids sort by the start of the run, then by sequence.
 */
export function deliveryIdOf(event: Pick<Delivery, 'webhookId' | 'runId' | 'sequence' | 'type'>): string {
  const { webhookId, runId, sequence, type } = event;
  const place = Buffer.alloc(SEQUENCE_BYTES);
  place.writeUIntBE(sequence, 0, SEQUENCE_BYTES);
  const digest = hash('sha256', [webhookId, runId, sequence, type].join('\0'), 'hex').slice(0, HASH_DIGITS);
  return newId('whd', timeOfId(runId) ?? 0, () => Buffer.concat([place, Buffer.from(digest, 'hex')]));
}
