import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CurrentStore } from '../contract.ts';
import type { RunKey, Store } from '../port.ts';
import * as make from './fixtures.ts';
import { TENANT, win } from './fixtures.ts';

const TTL_MS = 1_000;
const AFTER_EXPIRY = 5_000;

const ids = (keys: readonly RunKey[]): string[] => keys.map((key) => key.runId);
const ownerOf = async (store: Store, runId: string) => (await store.runs.row(TENANT, runId))?.owner;

export function leaseContract(current: CurrentStore): void {
  describe('leases', () => {
    lifeTests(current);
    claimTests(current);
    orphanTests(current);
  });
}

function lifeTests(current: CurrentStore): void {
  test('epochs only grow, also after a release', async () => {
    const { leases } = current().store;
    const first = await leases.acquire('p1', 0, TTL_MS);
    await leases.release(first);
    const second = await leases.acquire('p2', 0, TTL_MS);
    assert.ok(second > first);
  });

  test('a lease is renewed until it ends', async () => {
    const { leases } = current().store;
    const epoch = await leases.acquire('p1', 0, TTL_MS);
    assert.equal(await leases.renew(epoch, 900, TTL_MS), true);
    assert.equal(await leases.renew(epoch, 1_800, TTL_MS), true);
    await leases.release(epoch);
    assert.equal(await leases.renew(epoch, 1_900, TTL_MS), false);
  });
}

function claimTests(current: CurrentStore): void {
  test('due runs are claimed in the order of their wake-up, up to the limit', async () => {
    const { store } = current();
    const wake = { 'run-1': 300, 'run-2': 100, 'run-3': 200, 'run-4': 900 };
    for (const [runId, wakeAt] of Object.entries(wake))
      await win(store, make.create(runId, { head: { wakeAt } }));
    await win(store, make.create('run-5'), make.create('run-6', { head: { wakeAt: 1, owner: 77 } }));
    const epoch = await store.leases.acquire('p1', 0, TTL_MS);
    assert.equal(await store.leases.nextWakeAt(), 100);
    assert.deepEqual(ids(await store.leases.claimDue(epoch, 300, 2)), ['run-2', 'run-3']);
    assert.deepEqual(await store.leases.claimDue(epoch, 300, 2), [{ tenant: TENANT, runId: 'run-1' }]);
    assert.deepEqual(await store.leases.claimDue(epoch, 300, 2), []);
    assert.equal(await ownerOf(store, 'run-1'), epoch);
    assert.equal(await store.leases.nextWakeAt(), 900);
  });

  test('there is no next wake-up when nothing waits for one', async () => {
    const { store } = current();
    await win(store, make.create('run-1'));
    assert.equal(await store.leases.nextWakeAt(), null);
  });

  test('two epochs never claim the same due run', async () => {
    const { store } = current();
    const runIds = Array.from({ length: 20 }, (_, i) => `run-${i}`);
    await win(store, ...runIds.map((runId) => make.create(runId, { head: { wakeAt: 1 } })));
    const first = await store.leases.acquire('p1', 0, TTL_MS);
    const second = await store.leases.acquire('p2', 0, TTL_MS);
    const claims = await Promise.all(
      [first, second, first, second].map((epoch) => store.leases.claimDue(epoch, 1, 10)),
    );
    const claimed = claims.flatMap(ids);
    assert.equal(new Set(claimed).size, claimed.length);
    const rest = await store.leases.claimDue(first, 1, 20);
    assert.deepEqual([...claimed, ...ids(rest)].sort(), runIds.toSorted());
  });

  test('a claim fences the earlier view of a run', async () => {
    const { store } = current();
    await win(store, make.create('run-1', { head: { wakeAt: 1 } }));
    const epoch = await store.leases.acquire('p1', 0, TTL_MS);
    assert.deepEqual(ids(await store.leases.claimDue(epoch, 1, 1)), ['run-1']);
    const [late, mine] = await store.commit([
      [make.append('run-1', 1)],
      [make.append('run-1', 1, { expectedOwner: epoch })],
    ]);
    assert.deepEqual([late?.won, mine?.won], [false, true]);
  });
}

function orphanTests(current: CurrentStore): void {
  test('the runs of an epoch are listed by id, page by page', async () => {
    const { store } = current();
    const epoch = await store.leases.acquire('p1', 0, TTL_MS);
    const mine = ['run-3', 'run-1', 'run-2'].map((runId) => make.create(runId, { head: { owner: epoch } }));
    await win(store, ...mine, make.create('idle'), make.create('other', { head: { owner: epoch + 1 } }));
    assert.deepEqual(ids(await store.leases.owned(epoch, 2)), ['run-1', 'run-2']);
    assert.deepEqual(ids(await store.leases.owned(epoch, 2, 'run-2')), ['run-3']);
  });

  test('runs of a live lease are no orphans', async () => {
    const { store } = current();
    const epoch = await store.leases.acquire('p1', 0, TTL_MS);
    await win(store, make.create('run-1', { head: { owner: epoch } }));
    assert.deepEqual(await store.leases.claimOrphans(epoch, 500, 10), []);
  });

  test('runs whose lease has ended are claimed once, up to the limit', async () => {
    const { store } = current();
    const dead = await store.leases.acquire('p1', 0, TTL_MS);
    const owned = ['run-1', 'run-2', 'run-3'].map((runId) => make.create(runId, { head: { owner: dead } }));
    await win(store, ...owned, make.create('idle'));
    const epoch = await store.leases.acquire('p2', AFTER_EXPIRY, TTL_MS);
    const first = await store.leases.claimOrphans(epoch, AFTER_EXPIRY, 2);
    const second = await store.leases.claimOrphans(epoch, AFTER_EXPIRY, 2);
    assert.deepEqual([first.length, second.length], [2, 1]);
    assert.deepEqual(ids([...first, ...second]).sort(), ['run-1', 'run-2', 'run-3']);
    assert.equal(await ownerOf(store, 'run-1'), epoch);
    assert.equal(await ownerOf(store, 'idle'), null);
  });

  test('runs of a released lease are orphans at once', async () => {
    const { store } = current();
    const released = await store.leases.acquire('p1', 0, TTL_MS);
    await win(store, make.create('run-1', { head: { owner: released } }));
    await store.leases.release(released);
    const epoch = await store.leases.acquire('p2', 0, TTL_MS);
    assert.deepEqual(ids(await store.leases.claimOrphans(epoch, 0, 10)), ['run-1']);
  });
}
