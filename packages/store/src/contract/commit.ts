import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CurrentStore } from '../contract.ts';
import { StoreError } from '../error.ts';
import * as make from './fixtures.ts';
import { TENANT, win } from './fixtures.ts';

const WON = { won: true } as const;
const stale = (write = 0) => ({ won: false, write, reason: 'stale' }) as const;
const exists = (write = 0) => ({ won: false, write, reason: 'exists' }) as const;

export function commitContract(current: CurrentStore): void {
  describe('commit', () => {
    groupsTests(current);
    appendTests(current);
    recordTests(current);
    refusalTests(current);
  });
}

function groupsTests(current: CurrentStore): void {
  test('an empty batch and an empty group win', async () => {
    const { store } = current();
    assert.deepEqual(await store.commit([]), []);
    assert.deepEqual(await store.commit([[]]), [WON]);
  });

  test('I1: a losing group leaves nothing and harms no other group of its batch', async () => {
    const { store } = current();
    await win(store, make.create('run-1'));
    const results = await store.commit([
      [make.create('run-2'), make.idempotency('key-2')],
      [make.create('run-3'), make.idempotency('key-3'), make.append('run-1', 7)],
      [make.append('run-1', 1)],
    ]);
    assert.deepEqual(results, [WON, stale(2), WON]);
    assert.notEqual(await store.runs.row(TENANT, 'run-2'), null);
    assert.equal(await store.runs.row(TENANT, 'run-3'), null);
    assert.deepEqual(await store.runs.events(TENANT, 'run-3', 0, 10), []);
    assert.equal(await store.records.idempotency(TENANT, 'POST /v1/runs', 'key-3'), null);
    assert.equal((await store.runs.row(TENANT, 'run-1'))?.nextSeq, 2);
  });

  test('I1: what a losing group wrote is free for the next group', async () => {
    const { store } = current();
    const results = await store.commit([
      [make.idempotency('key'), make.claimInvocation('call'), make.create('run-1'), make.append('run-9', 0)],
      [make.idempotency('key'), make.claimInvocation('call'), make.create('run-1')],
    ]);
    assert.deepEqual(results, [stale(3), WON]);
  });

  test('a group may write to several runs, and several times to one', async () => {
    const { store } = current();
    await win(
      store,
      make.create('run-1'),
      make.create('run-2'),
      make.append('run-1', 1),
      make.append('run-1', 2),
    );
    assert.equal((await store.runs.row(TENANT, 'run-1'))?.nextSeq, 3);
    assert.deepEqual(await store.runs.events(TENANT, 'run-1', 0, 10), make.events(0, 3));
  });

  test('groups of one batch are decided in their order', async () => {
    const { store } = current();
    const results = await store.commit([
      [make.append('run-1', 0)],
      [make.create('run-1')],
      [make.create('run-1')],
      [make.append('run-1', 1)],
      [make.append('run-1', 1)],
    ]);
    assert.deepEqual(results, [stale(), WON, exists(), WON, stale()]);
  });
}

function appendTests(current: CurrentStore): void {
  test('I2: an append wins only at the next free sequence', async () => {
    const { store } = current();
    await win(store, make.create('run-1', { events: make.events(0, 3) }));
    assert.deepEqual(await store.commit([[make.append('run-1', 2)]]), [stale()]);
    assert.deepEqual(await store.commit([[make.append('run-1', 4)]]), [stale()]);
    assert.deepEqual(await store.commit([[make.append('run-1', 3)]]), [WON]);
  });

  test('an append wins only for the owner, and sets the head', async () => {
    const { store } = current();
    await win(store, make.create('run-1', { head: { owner: 1 } }));
    assert.deepEqual(await store.commit([[make.append('run-1', 1)]]), [stale()]);
    assert.deepEqual(await store.commit([[make.append('run-1', 1, { expectedOwner: 2 })]]), [stale()]);
    const done = make.head({ status: 'completed', owner: null, wakeAt: null, endedAt: 5_000 });
    await win(store, make.append('run-1', 1, { expectedOwner: 1, head: done }));
    assert.deepEqual(await store.runs.row(TENANT, 'run-1'), { ...make.facts('run-1'), ...done, nextSeq: 2 });
  });

  test('an append without events changes the head alone', async () => {
    const { store } = current();
    await win(store, make.create('run-1'));
    await win(store, make.append('run-1', 1, { events: [], head: make.head({ wakeAt: 9_000 }) }));
    const row = await store.runs.row(TENANT, 'run-1');
    assert.deepEqual([row?.nextSeq, row?.wakeAt], [1, 9_000]);
  });

  test('I4: an append of another tenant loses', async () => {
    const { store } = current();
    await win(store, make.create('run-1'));
    assert.deepEqual(await store.commit([[make.append('run-1', 1, { tenant: 'other' })]]), [stale()]);
  });

  test('of concurrent commits to one run exactly one wins', async () => {
    const { store } = current();
    await win(store, make.create('run-1'));
    const payloads = Array.from({ length: 12 }, (_, i) => `{"writer":${i}}`);
    const results = await Promise.all(
      payloads.map((payload) =>
        store.commit([[make.append('run-1', 1, { events: [make.event(1, { payload })] })]]),
      ),
    );
    const winners = payloads.filter((_, i) => results[i]?.[0]?.won);
    assert.equal(winners.length, 1);
    const [event] = await store.runs.events(TENANT, 'run-1', 1, 10);
    assert.equal(event?.payload, winners[0]);
  });

  test('of concurrent creations of one id exactly one wins', async () => {
    const { store } = current();
    const results = await Promise.all(
      Array.from({ length: 12 }, () => store.commit([[make.create('run-1'), make.idempotency('key')]])),
    );
    assert.equal(results.filter(([result]) => result?.won).length, 1);
    assert.equal((await store.runs.events(TENANT, 'run-1', 0, 10)).length, 1);
  });
}

function recordTests(current: CurrentStore): void {
  test('an idempotency key is taken until it expires, for its tenant and operation only', async () => {
    const { store } = current();
    await win(store, make.idempotency('key', { expiresAt: 2_000 }));
    const results = await store.commit([
      [make.idempotency('key', { now: 1_999, body: '{"second":1}' })],
      [make.idempotency('key', { tenant: 'other' })],
      [make.idempotency('key', { operation: 'POST /v1/runs/x/cancel' })],
      [make.idempotency('key', { now: 2_000, body: '{"third":1}', expiresAt: 3_000 })],
      [make.idempotency('key', { now: 2_000 })],
    ]);
    assert.deepEqual(results, [exists(), WON, WON, WON, exists()]);
    const record = await store.records.idempotency(TENANT, 'POST /v1/runs', 'key');
    assert.deepEqual(record, make.idempotencyRecord('key', { body: '{"third":1}', expiresAt: 3_000 }));
  });

  test('an invocation is claimed once and settled once', async () => {
    const { store } = current();
    assert.deepEqual(await store.commit([[make.settleInvocation('call')]]), [stale()]);
    await win(store, make.claimInvocation('call'));
    assert.deepEqual(await store.commit([[make.claimInvocation('call')]]), [exists()]);
    assert.deepEqual(await store.commit([[make.settleInvocation('call', '{}', 'other')]]), [stale()]);
    assert.equal((await store.records.invocation(TENANT, 'call'))?.outcome, null);
    await win(store, make.settleInvocation('call', '{"paid":1}'));
    assert.deepEqual(await store.commit([[make.settleInvocation('call', '{"paid":2}')]]), [stale()]);
    const record = make.invocationRecord('call', { outcome: '{"paid":1}' });
    assert.deepEqual(await store.records.invocation(TENANT, 'call'), record);
  });

  test('the events of a settled invocation may wait, and are told once', async () => {
    const { store } = current();
    await win(store, make.claimInvocation('call'));
    await win(store, { ...make.settleInvocation('call'), eventsPending: true });
    assert.equal((await store.records.invocation(TENANT, 'call'))?.eventsPending, true);
    await win(store, make.tellInvocation('call'));
    assert.deepEqual(await store.commit([[make.tellInvocation('call')]]), [stale()]);
  });

  test('an invocation may be claimed and settled in one group', async () => {
    const { store } = current();
    await win(store, make.claimInvocation('call'), make.settleInvocation('call'));
    assert.equal((await store.records.invocation(TENANT, 'call'))?.outcome, '{"ok":true}');
  });
}

function refusalTests(current: CurrentStore): void {
  for (const [what, text] of [
    ['NUL', 'a\0b'],
    ['half a surrogate pair', 'a\ud800b'],
  ] as const) {
    test(`an id with ${what} is refused before anything is written, and found nowhere`, async () => {
      const { store } = current();
      const refused = store.commit([[make.create('run-1')], [make.idempotency(text)]]);
      await assert.rejects(refused, (error) => error instanceof StoreError && error.code === 'invalid_text');
      assert.equal(await store.runs.row(TENANT, 'run-1'), null);
      assert.equal(await store.runs.row(TENANT, text), null);
      assert.equal(await store.records.idempotency(TENANT, 'POST /v1/runs', text), null);
    });
  }

  test('events that leave a gap are refused before anything is written', async () => {
    const { store } = current();
    await assert.rejects(store.commit([[make.create('run-1', { events: [make.event(1)] })]]));
    assert.equal(await store.runs.row(TENANT, 'run-1'), null);
  });
}
