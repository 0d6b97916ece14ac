/** Passes messages to the host, one call for each. The same for every backend. */
import { OpenwopError } from '@gantry/protocol';
import type { QueueDelivery, QueueOutcome, QueueSubscription } from '../../ports/queue.ts';
import { pause } from './waiting.ts';

export const TAKING = {
  messagesMax: 16,
  /** Extended while the host works on a message; what a dead process held is delivered again after it. */
  visibilityMs: 10_000,
  waitMs: 30_000,
} as const;
const HOLD_EVERY_MS = TAKING.visibilityMs / 3;
const RETRY_MS = { first: 250, max: 30_000 };
/**
 * The longest pause after a round without an accepted message. So few messages are in progress, and others
 * stay in their topic.
 */
const ROUND_MS_MAX = 5_000;

export interface SubscriptionSource {
  lease(signal: AbortSignal): Promise<readonly QueueDelivery[]>;
  settle(handle: string, outcome: QueueOutcome): Promise<unknown>;
  /** Logs errors of `onMessage` or the backend. */
  report(fault: unknown): void;
  /** Aborted when the port closes, which ends every subscription. */
  readonly closing: AbortSignal;
}

export function startSubscription(
  source: SubscriptionSource,
  onMessage: (message: QueueDelivery) => Promise<void>,
): QueueSubscription {
  const ending = new AbortController();
  const ended = takeTurns(source, onMessage, AbortSignal.any([ending.signal, source.closing]));
  return {
    async close() {
      ending.abort();
      await ended;
    },
  };
}

async function takeTurns(
  source: SubscriptionSource,
  onMessage: (message: QueueDelivery) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 0; !signal.aborted; ) {
    try {
      const deliveries = await source.lease(signal);
      const taken = await Promise.all(deliveries.map((delivery) => handOver(source, onMessage, delivery)));
      if (taken.length === 0 || taken.includes(true)) failures = 0;
      else await pause(Math.min(delayAfter(++failures), ROUND_MS_MAX), signal);
    } catch (fault) {
      if (signal.aborted) return;
      source.report(fault);
      await pause(delayAfter(++failures), signal);
    }
  }
}

async function handOver(
  source: SubscriptionSource,
  onMessage: (message: QueueDelivery) => Promise<void>,
  delivery: QueueDelivery,
): Promise<boolean> {
  const { settle, report } = source;
  const outcome = await holding(source, delivery, onMessage(delivery)).then(
    (): QueueOutcome => ({ kind: 'done' }),
    (fault: unknown): QueueOutcome => {
      report(fault);
      return { kind: 'again', delayMs: delayAfter(delivery.deliveryCount) };
    },
  );
  try {
    await settle(delivery.handle, outcome);
  } catch (fault) {
    // It took too long, and is or will be delivered again
    if (!(fault instanceof OpenwopError && fault.code === 'queue_delivery_token_expired')) report(fault);
  }
  return outcome.kind === 'done';
}

/** Extends the delivery until the work on it ends. The last extension is over then: `settle` follows it. */
async function holding(
  { settle }: SubscriptionSource,
  { handle }: QueueDelivery,
  work: Promise<void>,
): Promise<void> {
  const ending = new AbortController();
  const { visibilityMs } = TAKING;
  const hold = async (): Promise<void> => {
    for (;;) {
      await pause(HOLD_EVERY_MS, ending.signal);
      if (ending.signal.aborted) return;
      // A failure here is one of `settle` too, which reports it
      await settle(handle, { kind: 'held', visibilityMs }).catch(() => {});
    }
  };
  const held = hold();
  try {
    await work;
  } finally {
    ending.abort();
    await held;
  }
}

const delayAfter = (failures: number): number =>
  Math.min(RETRY_MS.first * 2 ** Math.min(failures - 1, 20), RETRY_MS.max);
