import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownerOf } from '@gantry/protocol';
import type { Store, StoreChange } from '@gantry/store';
import { CLAIM_MS } from '../deliveries/delivery-lanes.ts';
import { receiver } from './testing/receiver.ts';
import { createWorld, runFacts, storedEvent } from './testing/world.ts';

interface Shared {
  readonly store: Store;
  say(change: Partial<StoreChange>): void;
  /** How often all subscriptions were read. */
  reads(): number;
  /** The end of the first look at what is due. */
  readonly swept: Promise<void>;
}

/** A store of which another process says what it committed. */
function shared(real: Store): Shared {
  let listener: (change: StoreChange) => void = () => assert.fail('nobody listens');
  let reads = 0;
  const swept = Promise.withResolvers<void>();
  const watch: Store['watch'] = async (given) => {
    listener = given;
    return async () => {};
  };
  const all: Store['entries']['all'] = (...args) => {
    reads++;
    return real.entries.all(...args);
  };
  const nextDueAt: Store['entries']['nextDueAt'] = async (kind) => {
    const at = await real.entries.nextDueAt(kind);
    setImmediate(swept.resolve);
    return at;
  };
  return {
    store: { ...real, watch, entries: { ...real.entries, all, nextDueAt } },
    swept: swept.promise,
    say: (change) => listener({ runs: [], kinds: [], ...change }),
    reads: () => reads,
  };
}

test('what another process registers or deletes is known here after its notice', async (t) => {
  const world = await createWorld(t);
  const { store, say } = shared(world.store);
  const other = world.another({ store });
  await other.start();
  const writes = () => other.outbox.writes(runFacts(), [storedEvent('run.completed', 0)]).length;
  const until = async (count: number): Promise<void> => {
    while (writes() !== count) await new Promise(setImmediate);
  };
  const { url } = await receiver(t);
  const { webhookId } = await world.register({ url, events: ['*'] });
  assert.equal(writes(), 0);
  say({ kinds: ['webhook'] });
  await until(1);
  await world.request('DELETE', `/v1/webhooks/${webhookId}`);
  say({ missed: true });
  await until(0);
});

test('notices that come together are answered by few reads', async (t) => {
  const world = await createWorld(t);
  const { store, say, reads } = shared(world.store);
  const other = world.another({ store });
  await other.start();
  const before = reads();
  for (let i = 0; i < 100; i++) say({ kinds: ['webhook'] });
  await other.service.list(ownerOf({ tenant: 'acme' }), { limit: 1 });
  assert.ok(reads() - before <= 2);
});

test('deliveries of a process that died are found when its claims would have ended', async (t) => {
  const world = await createWorld(t);
  const { url, received, got } = await receiver(t);
  await world.register({ url, events: ['*'] });
  const { store, say, swept } = shared(world.store);
  const survivor = world.another({ store });
  await survivor.start();
  await swept;
  await world.webhooks.stop();
  await world.happen(['run.completed']);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  say({ kinds: ['delivery'] });
  world.pass(CLAIM_MS);
  assert.deepEqual(received, []);
  t.mock.timers.tick(CLAIM_MS);
  t.mock.timers.reset();
  await got(1);
});
