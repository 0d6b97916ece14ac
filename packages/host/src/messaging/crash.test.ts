/** A process dies between any two of its commits: no accepted message is lost, and none becomes two deliveries. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Store } from '@gantry/store';
import { backends } from '../../../resources/src/testing/backends.ts';
import { CLAIM_MS } from './message-lanes.ts';
import { webReceiver } from './testing/receivers.ts';
import { createWorld } from './testing/world.ts';

/** The message is accepted, claimed, and its outcome is kept. */
const COMMITS = 3;
const RETRY_MS = 60_000;

/** The store of a process that dies at its commit `at`: just before it, or just after. */
function dying(store: Store, at: number, when: 'before' | 'after') {
  const death = Promise.withResolvers<'dead'>();
  const never = new Promise<never>(() => {});
  let [commits, isDead] = [0, false];
  const die = (): Promise<never> => {
    isDead = true;
    death.resolve('dead');
    return never;
  };
  const commit: Store['commit'] = async (groups) => {
    if (isDead) return never;
    if (++commits < at) return store.commit(groups);
    if (when === 'after') await store.commit(groups);
    return die();
  };
  return { store: { ...store, commit }, died: death.promise };
}

for (const { name, skip, open, remove } of await backends()) {
  describe(name, { skip }, () => {
    let store: Store;
    before(async () => {
      store = await open();
    });
    after(async () => {
      await store.close();
      await remove();
    });

    test('a process that dies at any commit leaves its message to the next', async (t) => {
      const world = createWorld(t, store);
      const { url, got } = await webReceiver(t);
      const rateLimit = { requests: 1_000, perSeconds: 1 };
      await world.add({ connectorId: 'hook', type: 'http', url, rateLimit });
      for (let at = 1; at <= COMMITS; at++)
        for (const when of ['before', 'after'] as const) {
          const about = `${when} commit ${at}`;
          const key = { idempotencyKey: about };
          const first = dying(store, at, when);
          const process = world.another({ store: first.store, isShort: true });
          const answer = await Promise.race([world.send('hook', key, process), first.died]);
          if (answer !== 'dead') await Promise.race([process.tick(), first.died]);
          assert.equal(await first.died, 'dead', about);

          const repeated = await world.send('hook', key);
          if (answer !== 'dead') assert.deepEqual(repeated, answer, about);
          await world.later(CLAIM_MS);
          await world.later(RETRY_MS);
          const { deliveryId } = repeated;
          const mine = (await world.deliveries('hook')).filter((each) => each.deliveryId === deliveryId);
          assert.deepEqual(
            mine.map(({ state }) => state),
            ['delivered'],
            about,
          );
          const times = got.filter(({ headers }) => headers['idempotency-key'] === deliveryId).length;
          // Only a process that dies after it has sent, and before that is kept, makes another send it again
          assert.equal(times, at === COMMITS && when === 'before' ? 2 : 1, about);
        }
      assert.equal((await world.deliveries('hook')).length, 2 * COMMITS, 'one delivery for each key');
    });

    test('two processes send each message once', async (t) => {
      const world = createWorld(t, store);
      // One of its own where two can open the database
      const own = name === 'sqlite' ? undefined : await open();
      t.after(() => own?.close());
      const other = world.another(own && { store: own });
      const { url, got } = await webReceiver(t);
      await world.add({ connectorId: 'both', type: 'http', url });
      const keys = Array.from({ length: 20 }, (_, n) => `k${n}`);
      const answers = await Promise.all(
        keys.flatMap((idempotencyKey) => [
          world.send('both', { idempotencyKey }),
          world.send('both', { idempotencyKey }, other),
        ]),
      );
      assert.equal(new Set(answers.map(({ deliveryId }) => deliveryId)).size, keys.length);
      await Promise.all([world.messaging.tick(), other.tick()]);
      assert.equal(got.length, keys.length);
    });
  });
}
