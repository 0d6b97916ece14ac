import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { QueueOutcome } from '../../ports/queue.ts';
import { startSubscription, TAKING } from './subscription.ts';

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

test('a message is held as long as the work on it takes, and settled after the last extension', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const work = Promise.withResolvers<void>();
  const outcomes: QueueOutcome['kind'][] = [];
  let told = Promise.withResolvers<void>();
  const rounds = [[{ messageId: 'm', payload: null, headers: {}, deliveryCount: 1, handle: 'h' }]];
  const ending = new AbortController();
  const subscription = startSubscription(
    {
      lease: async () =>
        rounds.shift() ??
        (await new Promise((resolve) => ending.signal.addEventListener('abort', () => resolve([])))),
      async settle(_, outcome) {
        await Promise.resolve();
        outcomes.push(outcome.kind);
        told.resolve();
        if (outcome.kind === 'held') throw new Error('the queue is away');
      },
      report: () => assert.fail('a failed extension is nothing to report'),
      closing: ending.signal,
    },
    () => work.promise,
  );
  for (let held = 1; held <= 6; held++) {
    await new Promise(setImmediate);
    told = Promise.withResolvers();
    t.mock.timers.tick(TAKING.visibilityMs / 2);
    await told.promise;
  }
  told = Promise.withResolvers();
  work.resolve();
  await told.promise;
  ending.abort();
  await subscription.close();
  assert.deepEqual(outcomes, [...Array(6).fill('held'), 'done']);
});
