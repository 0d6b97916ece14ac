/** What follows from the outcome of an attempt: for the delivery, and for the subscription. Pure. */
import { type Delivery, type DeliveryRecord, finished, type NextDelivery } from './delivery.ts';
import { afterFailure, afterSuccess, isClean, isGivenUp } from './health.ts';
import { retryDelayMs } from './retry.ts';
import type { Outcome } from './send.ts';
import type { WebhookRecord } from './webhook.ts';

export interface SettlementInput {
  readonly outcome: Outcome;
  readonly webhook: Pick<WebhookRecord, 'durable' | 'state'>;
  readonly now: number;
  /** From 0 to 1. */
  readonly random: number;
}

export function settledDelivery({ record }: Delivery, input: SettlementInput): NextDelivery {
  const { outcome, webhook, now, random } = input;
  const last = {
    at: now,
    ...('status' in outcome && { status: outcome.status }),
    ...('reason' in outcome && { reason: outcome.reason }),
  };
  const attempted: DeliveryRecord = { ...record, last };
  if (outcome.kind === 'delivered') return finished(attempted, 'delivered', now);
  if (!webhook.durable) return finished(attempted, 'failed', now);
  const isLast = outcome.kind === 'impossible' || webhook.state === 'failed';
  const delayMs = isLast ? null : retryDelayMs(record.attempts, random);
  if (delayMs === null) return finished(attempted, 'dead', now);
  return { state: 'pending', record: { ...attempted, dueAt: now + delayMs } };
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
): NextDelivery {
  const last = { ...record.last, at: record.last?.at ?? now, reason };
  return finished({ ...record, last }, durable ? 'dead' : 'failed', now);
}
