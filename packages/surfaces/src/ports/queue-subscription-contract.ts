/** How the host starts one run for each message. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { QueueDelivery } from './queue.ts';
import type { QueueUser, Users } from './queue-user-contract.ts';

const REJECTED = 3;

/** Collects until it has seen so many. */
function inbox(count: number) {
  const seen: QueueDelivery[] = [];
  const { promise: full, resolve } = Promise.withResolvers<void>();
  const add = (message: QueueDelivery): void => {
    seen.push(message);
    if (seen.length >= count) resolve();
  };
  return { seen, full, add };
}

const subscribe = (
  { port, tenant }: QueueUser,
  topic: string,
  onMessage: (message: QueueDelivery) => Promise<void>,
) => port.subscribe({ tenant, topic, group: 'trigger' }, onMessage);

export function queueSubscriptions(user: Users): void {
  test('one call for each message, before and after it subscribed, and each is acknowledged', async () => {
    const { publish, take, ...rest } = user();
    const [early, late] = [inbox(2), inbox(2)];
    await publish('t', 0);
    await publish('t', 1);
    const first = subscribe({ publish, take, ...rest }, 't', async (message) => early.add(message));
    await early.full;
    await first.close();
    const second = subscribe({ publish, take, ...rest }, 't', async (message) => late.add(message));
    await publish('t', 2);
    await publish('t', 3);
    await late.full;
    await second.close();
    const numbers = [...early.seen, ...late.seen].map(({ payload }) => Number(payload));
    assert.deepEqual(numbers.toSorted(), [0, 1, 2, 3]);
    assert.deepEqual(await take('t', { group: 'trigger' }), []);
  });

  test('a message that comes again has the same id, so that it starts no second run', async () => {
    const world = user();
    const runs = new Map<string, unknown>();
    const tries = inbox(2);
    const id = await world.publish('t', 'x');
    const subscription = subscribe(world, 't', async (message) => {
      runs.set(message.messageId, message.payload);
      tries.add(message);
      if (tries.seen.length === 1)
        throw new Error('died after the run was created, before the acknowledgement');
    });
    await tries.full;
    await subscription.close();
    assert.deepEqual([...runs], [[id, 'x']]);
    assert.deepEqual(
      tries.seen.map(({ deliveryCount }) => deliveryCount),
      [1, 2],
    );
    assert.deepEqual(await world.take('t', { group: 'trigger' }), []);
  });

  test('I4: a message that is rejected again and again is not given up', async () => {
    const world = user();
    const tries = inbox(REJECTED + 1);
    await world.publish('t', 'x');
    const subscription = subscribe(world, 't', async (message) => {
      tries.add(message);
      if (tries.seen.length <= REJECTED) throw new Error('the store of runs is away');
    });
    await tries.full;
    await subscription.close();
    assert.deepEqual(
      tries.seen.map(({ payload, deliveryCount }) => [payload, deliveryCount]),
      Array.from({ length: REJECTED + 1 }, (_, index) => ['x', index + 1]),
    );
    for (const [topic, group] of [['t', 'trigger'] as const, ['t.dlq', ''] as const])
      assert.deepEqual(await world.take(topic, { group }), [], topic);
  });

  test('several subscribers of one group share the messages', async () => {
    const world = user();
    const all = inbox(20);
    const open = () => subscribe(world, 't', async (message) => all.add(message));
    const subscriptions = [open(), open(), open()];
    await Promise.all(Array.from({ length: 20 }, (_, n) => world.publish('t', n)));
    await all.full;
    await Promise.all(subscriptions.map((each) => each.close()));
    assert.equal(new Set(all.seen.map(({ messageId }) => messageId)).size, 20);
    assert.equal(all.seen.length, 20);
  });
}
