/** The next state of a delivery after an attempt. Pure. */
import { type Attempts, finished, type NextDelivery } from './delivery.ts';
import type { Outcome } from './post.ts';
import { retryDelayMs } from './retry.ts';

export interface Attempted {
  readonly outcome: Outcome<string>;
  readonly now: number;
  /** From 0 to 1. */
  readonly random: number;
  /** No further attempt follows. */
  readonly isLast?: boolean;
}

/** Delivered, retried, or dead after the last attempt. */
export function settled<R extends Attempts>(
  record: R,
  { outcome, now, random, isLast = false }: Attempted,
): NextDelivery<R, 'pending' | 'delivered' | 'dead'> {
  const last = {
    at: now,
    ...('status' in outcome && { status: outcome.status }),
    ...('reason' in outcome && { reason: outcome.reason }),
  };
  const attempted: R = { ...record, last };
  if (outcome.kind === 'delivered') return finished(attempted, 'delivered', now);
  const isOver = isLast || outcome.kind === 'impossible';
  const delayMs = isOver ? null : retryDelayMs(record.attempts, random);
  if (delayMs === null) return finished(attempted, 'dead', now);
  return { state: 'pending', record: { ...attempted, dueAt: now + delayMs } };
}
