/** What follows from the outcome of an attempt: for the delivery, and for the subscription. Pure. */
import type { Write } from '@gantry/store';
import { type Delivery, finishWrites, pendingWrite } from './delivery.ts';
import { afterFailure, afterSuccess, type Health, isClean, isGivenUp } from './health.ts';
import { retryDelayMs } from './retry.ts';
import type { Outcome } from './send.ts';
import type { Subscription } from './subscription.ts';

export interface SettlementInput {
  readonly outcome: Outcome;
  readonly subscription: Pick<Subscription, 'durable' | 'state'>;
  readonly now: number;
  /** From 0 to 1. */
  readonly random: number;
}

export function settlementWrites(delivery: Delivery, input: SettlementInput): Write[] {
  const { outcome, subscription, now, random } = input;
  const last = {
    at: now,
    ...('status' in outcome && { status: outcome.status }),
    ...('reason' in outcome && { reason: outcome.reason }),
  };
  const attempted = { ...delivery, last };
  if (outcome.kind === 'delivered') return finishWrites(attempted, 'delivered', now);
  if (!subscription.durable) return finishWrites(attempted, 'failed', now);
  const isLast = outcome.kind === 'impossible' || subscription.state === 'failed';
  const delayMs = isLast ? null : retryDelayMs(delivery.attempts, random);
  if (delayMs === null) return finishWrites(attempted, 'dead', now);
  return [pendingWrite({ ...attempted, dueAt: now + delayMs })];
}

/** The subscription after the outcome; the same object when nothing changed. */
export function settledSubscription(subscription: Subscription, outcome: Outcome, now: number): Subscription {
  const { health } = subscription;
  switch (outcome.kind) {
    case 'impossible':
      return subscription;
    case 'delivered':
      return isClean(health) ? subscription : { ...subscription, health: afterSuccess(health) };
    case 'refused':
    case 'unreached':
      return withHealth(subscription, afterFailure(health, now), now);
  }
}

const withHealth = (subscription: Subscription, health: Health, now: number): Subscription => ({
  ...subscription,
  health,
  state: isGivenUp(health, now) ? 'failed' : subscription.state,
});

/** Why a delivery ended without an attempt. */
export type DropReason = 'circuit_open' | 'subscription_failed';

export function dropWrites(delivery: Delivery, durable: boolean, reason: DropReason, now: number): Write[] {
  const dropped = { ...delivery, last: { ...delivery.last, at: delivery.last?.at ?? now, reason } };
  return finishWrites(dropped, durable ? 'dead' : 'failed', now);
}
