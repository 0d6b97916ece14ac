import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { QueueOutcome } from '../../ports/queue.ts';
import { startSubscription } from './subscription.ts';

test('what is rejected comes again later each time, and never later than half a minute', async () => {
  const counts = [1, 2, 3, 7, 8, 100, 1_000_000];
  const outcomes = new Map<string, QueueOutcome>();
  const { promise: settled, resolve } = Promise.withResolvers<void>();
  const deliveries = counts.map((deliveryCount) => ({
    messageId: 'm',
    payload: null,
    headers: {},
    deliveryCount,
    handle: String(deliveryCount),
  }));
  const rounds = [deliveries];
  const subscription = startSubscription(
    {
      lease: async () => rounds.shift() ?? assert.fail('it pauses after a round of which nothing was taken'),
      async settle(handle, outcome) {
        outcomes.set(handle, outcome);
        if (outcomes.size === counts.length) resolve();
      },
      report: () => {},
      closing: new AbortController().signal,
    },
    () => Promise.reject(new Error('the store is away')),
  );
  await settled;
  await subscription.close();
  const delays = counts.map((count) => outcomes.get(String(count)));
  assert.deepEqual(
    delays,
    [250, 500, 1_000, 16_000, 30_000, 30_000, 30_000].map((delayMs) => ({ kind: 'again', delayMs })),
  );
});
