/** What follows from the outcome of an attempt: for the delivery, and for the subscription. Pure. */
import { finished, type NextDelivery } from '../deliveries/delivery.ts';
import { settled } from '../deliveries/settlement.ts';
import type { Delivery, DeliveryRecord } from './delivery.ts';
import { afterFailure, afterSuccess, isClean, isGivenUp } from './health.ts';
import type { Outcome } from './send.ts';
import type { WebhookRecord } from './webhook.ts';

export interface SettlementInput {
  readonly outcome: Outcome;
  readonly webhook: Pick<WebhookRecord, 'durable' | 'state'>;
  readonly now: number;
  /** From 0 to 1. */
  readonly random: number;
}

export function settledDelivery(
  { record }: Delivery,
  { webhook, ...attempt }: SettlementInput,
): NextDelivery<DeliveryRecord> {
  const next = settled(record, { ...attempt, isLast: !webhook.durable || webhook.state === 'failed' });
  return next.state === 'dead' && !webhook.durable ? { ...next, state: 'failed' } : next;
}

/** The subscription after the outcome; the same object when nothing changed. */
export function settledWebhook(webhook: WebhookRecord, outcome: Outcome, now: number): WebhookRecord {
  switch (outcome.kind) {
    case 'impossible':
      return webhook;
    case 'delivered':
      return isClean(webhook.health) ? webhook : { ...webhook, health: afterSuccess(webhook.health) };
    case 'refused':
    case 'unreached': {
      const health = afterFailure(webhook.health, now);
      return { ...webhook, health, state: isGivenUp(health, now) ? 'failed' : webhook.state };
    }
  }
}

/** Why a delivery ended without an attempt. */
export type DropReason = 'circuit_open' | 'subscription_failed';

export function dropped(
  { record }: Delivery,
  durable: boolean,
  reason: DropReason,
  now: number,
): NextDelivery<DeliveryRecord> {
  const last = { ...record.last, at: record.last?.at ?? now, reason };
  return finished({ ...record, last }, durable ? 'dead' : 'failed', now);
}
