/** How the host starts one run for each message. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { write } from '../testing/calls.ts';
import type { QueueDelivery } from './queue.ts';
import { EXPIRED, NEVER, type QueueUser, type Users } from './queue-user-contract.ts';

const REJECTED = 3;
const FREE_AFTER_MS = 11_000;

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

  const takeAt = ({ port, tenant }: QueueUser, now: number) => {
    const request = {
      topic: 't',
      group: 'trigger',
      messagesMax: 1,
      visibilityMs: 1,
      waitMs: 0,
      signal: NEVER,
    };
    return port.consume(request, write(tenant, { now }));
  };

  test('what a dead process had in hand is free seconds later', async () => {
    const world = user();
    const [inHand, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await world.publish('t', 'x');
    const subscription = subscribe(world, 't', () => {
      inHand.resolve();
      return done.promise;
    });
    await inHand.promise;
    const [again] = await takeAt(world, Date.now() + FREE_AFTER_MS);
    assert.deepEqual([again?.payload, again?.deliveryCount], ['x', 2]);
    done.resolve();
    await subscription.close();
  });

  test('a message that is held longer comes to nobody else, and is acknowledged', async () => {
    const world = user();
    const { port, tenant } = world;
    await world.publish('t', 'x');
    const at = Date.now();
    const later = (ms: number) => write(tenant, { now: at + ms });
    const { handle } = await world.takeOne('t', { group: 'trigger', visibilityMs: 10_000 });
    await port.settle(handle, { kind: 'held', visibilityMs: 60_000 }, later(5_000));
    assert.deepEqual(await takeAt(world, at + 60_000), []);
    await port.settle(handle, { kind: 'done' }, later(60_000));
    assert.deepEqual(await takeAt(world, at + 70_000), []);

    await world.publish('t', 'y');
    const { handle: lost } = await world.takeOne('t', { group: 'trigger', visibilityMs: 1 });
    await assert.rejects(port.settle(lost, { kind: 'held', visibilityMs: 60_000 }, later(90_000)), EXPIRED);
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
