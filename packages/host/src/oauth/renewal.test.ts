import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Store } from '@gantry/store';
import { backends } from '../../../resources/src/testing/backends.ts';
import { newest } from '../credentials/credential.ts';
import { LIFETIME_MS, renewalWorld, type Time } from './testing/renewal-world.ts';
import { refreshTokenOf } from './token-versions.ts';

type World = (processes: number, waits?: 'until told' | 'no longer') => ReturnType<typeof renewalWorld>;
type Case = (world: World, time: Time) => Promise<void>;

const CASES: Readonly<Record<string, Case>> = {
  'many at once, in several processes, are one request each time, and no grant is lost': async (
    world,
    time,
  ) => {
    const { provider, renewals, read, state } = await world(2);
    for (let round = 1; round <= 5; round++) {
      time.offsetMs += LIFETIME_MS;
      const stored = await read();
      const all = Array.from({ length: 50 }, () => renewals.map((each) => each.fresh(stored))).flat();
      const versions = (await Promise.all(all)).map(({ record }) => newest(record).version);
      assert.deepEqual([...new Set(versions)], [round + 1]);
      assert.equal(provider.asked, round);
    }
    assert.deepEqual([provider.isRevoked, (await state()).status], [false, 'connected']);
  },

  'a token that lives long enough is left alone': async (world) => {
    const { provider, renewals, read } = await world(1);
    const stored = await read();
    assert.equal(await renewals[0]!.fresh(stored), stored);
    assert.equal(provider.asked, 0);
  },

  'a process that ends before it has the answer is replaced, and what it hears later counts for nothing':
    async (world) => {
      const { provider, renewals, read, masterKey } = await world(2, 'no longer');
      const [first, second] = renewals;
      assert.ok(first && second);
      const stored = await read();
      const gate = Promise.withResolvers<void>();
      provider.gate = gate.promise;
      provider.broken = { kind: 'unanswered', problem: 'Never heard.' };
      const dead = first.renewed(stored);
      // Its request is under way when the other begins
      while (provider.asked === 0) await new Promise(setImmediate);
      provider.gate = Promise.resolve();
      provider.broken = undefined;
      const renewed = await second.renewed(stored);
      assert.equal(refreshTokenOf(masterKey, renewed), 'refresh-token-2');
      gate.resolve();
      assert.equal(newest((await dead).record).version, newest(renewed.record).version);
      assert.equal(provider.asked, 2);
    },

  'when the provider had answered the process that ended, the person is asked to authorize again': async (
    world,
  ) => {
    const { provider, renewals, read, state } = await world(2, 'no longer');
    const [first, second] = renewals;
    assert.ok(first && second);
    const stored = await read();
    const gate = Promise.withResolvers<void>();
    provider.gate = gate.promise;
    const dead = first.renewed(stored);
    while (provider.asked === 0) await new Promise(setImmediate);
    provider.gate = Promise.resolve();
    await assert.rejects(second.renewed(stored), { code: 'connector_auth_expired' });
    gate.resolve();
    await assert.rejects(dead, { code: 'connector_auth_expired' });
    assert.equal((await state()).status, 'expired');
    await assert.rejects(first.renewed(stored), /gantry connections connect acme --scope workspace/);
    assert.equal(provider.asked, 2);
  },

  'no answer leaves the grant, and the next one may try at once': async (world) => {
    const { provider, renewals, read, state } = await world(1);
    const [renewal] = renewals;
    assert.ok(renewal);
    const stored = await read();
    for (const answer of [
      { kind: 'unanswered', problem: 'Its token endpoint answered 500.' },
      { kind: 'refused', code: 'invalid_client' },
    ] as const) {
      provider.broken = answer;
      await assert.rejects(renewal.renewed(stored), { code: 'connector_unavailable' });
      assert.equal((await state()).status, 'connected');
    }
    provider.broken = undefined;
    assert.equal(newest((await renewal.renewed(stored)).record).version, 2);
  },
};

for (const backend of await backends())
  describe(`renewal on ${backend.name}`, { skip: backend.skip }, () => {
    const stores: Store[] = [];
    before(async () => {
      // The embedded store has one process
      for (let i = 0; i < (backend.name === 'sqlite' ? 1 : 2); i++) stores.push(await backend.open());
    });
    after(async () => {
      for (const store of stores) await store.close();
      await backend.remove();
    });
    for (const [name, work] of Object.entries(CASES))
      test(name, async () => {
        const time: Time = { offsetMs: 0 };
        await work((...rest) => renewalWorld(stores, time, ...rest), time);
      });
  });
