import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CurrentStore } from '../contract.ts';
import * as make from './fixtures.ts';
import { bigText, TENANT, win } from './fixtures.ts';

const BIG = 100_000;
const ended = (endedAt: number) => ({ status: 'completed', endedAt }) as const;

export function retentionContract(current: CurrentStore): void {
  describe('retention', () => {
    runTests(current);
    blobTests(current);
    expiryTests(current);
  });
}

function runTests(current: CurrentStore): void {
  test('ended runs go with all that hangs on them, oldest first, up to the limit', async () => {
    const { store } = current();
    for (const [runId, endedAt] of Object.entries({ late: 300, early: 100, middle: 200 })) {
      await win(store, make.create(runId, { head: ended(endedAt) }), make.claimInvocation(runId, { runId }));
      await win(
        store,
        make.append(runId, 1, { head: make.head(ended(endedAt)), snapshot: { nextSeq: 2, state: '{}' } }),
      );
    }
    await win(store, make.create('active'));
    assert.equal(await store.retention.deleteEnded(300, 1), 1);
    assert.equal(await store.runs.row(TENANT, 'early'), null);
    assert.equal(await store.retention.deleteEnded(300, 10), 1);
    assert.equal(await store.retention.deleteEnded(300, 10), 0);
    const left = await store.runs.list(TENANT, { limit: 10 });
    assert.deepEqual(
      left.map((row) => row.runId),
      ['late', 'active'],
    );
    assert.equal(await store.records.invocation(TENANT, 'early'), null);
    assert.notEqual(await store.records.invocation(TENANT, 'late'), null);
  });

  test('a counter goes with its run, or when its time is over', async () => {
    const { store } = current();
    const kinds = { run: { runId: 'run-1' }, day: { expiresAt: 500 }, kept: {} };
    await win(store, make.create('run-1', { head: ended(1) }));
    for (const [id, ends] of Object.entries(kinds))
      for (const delta of [3, 4])
        await store.commit([[{ kind: 'adjust', key: make.key(id), delta, ...ends }]]);
    const values = () => Promise.all(Object.keys(kinds).map((id) => store.entries.counter(make.key(id))));
    assert.deepEqual(await values(), [7, 7, 7]);
    assert.equal(await store.retention.deleteExpired(499, 0, 10), 0);
    assert.equal(await store.retention.deleteExpired(500, 0, 10), 1);
    assert.deepEqual(await values(), [7, 0, 7]);
    await store.retention.deleteEnded(2, 10);
    assert.deepEqual(await values(), [0, 0, 7]);
  });

  test('one run is deleted with all that hangs on it, once it has ended and by its tenant alone', async () => {
    const { store, blobCount } = current();
    const note = { runId: 'run-1', body: bigText(BIG) };
    await win(
      store,
      make.create('run-1', { facts: { request: bigText(BIG, 'r') } }),
      make.putEntry('note', null, note),
    );
    await win(
      store,
      make.claimInvocation('call', { runId: 'run-1' }),
      make.create('other', { head: ended(1) }),
    );
    assert.equal(await store.retention.deleteRun(TENANT, 'run-1'), false, 'it has not ended');
    await win(store, make.append('run-1', 1, { head: make.head(ended(2)) }));
    assert.equal(await store.retention.deleteRun('alien', 'run-1'), false);
    assert.equal(await blobCount(), 2);
    assert.equal(await store.retention.deleteRun(TENANT, 'run-1'), true);
    assert.equal(await store.retention.deleteRun(TENANT, 'run-1'), false);
    assert.deepEqual(
      [
        await store.runs.row(TENANT, 'run-1'),
        await store.runs.events(TENANT, 'run-1', 0, 9),
        await store.records.invocation(TENANT, 'call'),
        await store.entries.get(make.entry('note')),
        await blobCount(),
      ],
      [null, [], null, null, 0],
    );
    assert.notEqual(await store.runs.row(TENANT, 'other'), null);
  });

  test('nothing of a deleted run shows through when its id is used again', async () => {
    const { store } = current();
    await win(store, make.create('run-1', { head: ended(1), events: make.events(0, 5) }));
    await win(
      store,
      make.append('run-1', 5, { head: make.head(ended(1)), snapshot: { nextSeq: 6, state: '{}' } }),
    );
    assert.equal(await store.retention.deleteEnded(2, 10), 1);
    await win(store, make.create('run-1'));
    const loaded = await store.runs.load(TENANT, 'run-1');
    assert.deepEqual([loaded?.snapshot, loaded?.tail], [null, make.events(0, 1)]);
  });
}

function blobTests(current: CurrentStore): void {
  test('a blob is kept once and goes with its last use', async () => {
    const { store, blobCount } = current();
    const shared = bigText(BIG);
    const events = [make.event(0, { payload: shared, sealed: bigText(BIG, 'y') })];
    await win(store, make.create('run-1', { head: ended(1), facts: { request: shared }, events }));
    await win(store, make.create('run-2', { head: ended(2), facts: { request: shared } }));
    assert.equal(await blobCount(), 2);
    assert.equal(await store.retention.deleteEnded(2, 10), 1);
    assert.equal(await blobCount(), 1);
    assert.equal((await store.runs.row(TENANT, 'run-2'))?.request, shared);
    assert.equal(await store.retention.deleteEnded(3, 10), 1);
    assert.equal(await blobCount(), 0);
  });

  test('a blob that finds a new user while its last one is deleted stays', async () => {
    const { store } = current();
    const request = bigText(BIG);
    for (let round = 0; round < 10; round++) {
      await win(store, make.create(`old-${round}`, { head: ended(1), facts: { request } }));
      await Promise.all([
        store.retention.deleteEnded(2, 10),
        win(store, make.create(`new-${round}`, { facts: { request } })),
      ]);
      assert.equal((await store.runs.row(TENANT, `new-${round}`))?.request, request);
    }
  });

  test('a snapshot that replaces another takes its blob away', async () => {
    const { store, blobCount } = current();
    await win(store, make.create('run-1'));
    for (let seq = 1; seq < 4; seq++) {
      const state = bigText(BIG, String(seq));
      await win(store, make.append('run-1', seq, { snapshot: { nextSeq: seq + 1, state } }));
      assert.equal((await store.runs.load(TENANT, 'run-1'))?.snapshot?.state, state);
    }
    const same = bigText(BIG, '3');
    await win(store, make.append('run-1', 4, { snapshot: { nextSeq: 5, state: same } }));
    assert.equal((await store.runs.load(TENANT, 'run-1'))?.snapshot?.state, same);
    assert.equal(await blobCount(), 1);
  });

  test('a losing group leaves no blob', async () => {
    const { store, blobCount } = current();
    const big = bigText(BIG);
    await win(store, make.create('run-1'), make.idempotency('key'));
    await store.commit([
      [make.create('run-1', { facts: { request: big } })],
      [make.create('run-2', { facts: { request: big } }), make.append('run-1', 9)],
      [make.append('run-1', 9, { events: [make.event(9, { payload: big })] })],
      [make.settleInvocation('none', big)],
      [make.idempotency('key', { body: big })],
    ]);
    assert.equal(await blobCount(), 0);
  });
}

function expiryTests(current: CurrentStore): void {
  test('expired records go with their blobs, the others stay', async () => {
    const { store, blobCount } = current();
    await win(store, make.idempotency('old', { expiresAt: 100, body: bigText(BIG, 'a') }));
    await win(store, make.idempotency('new', { expiresAt: 101 }));
    await win(
      store,
      make.claimInvocation('old', { claimedAt: 49 }),
      make.settleInvocation('old', bigText(BIG, 'b')),
    );
    await win(store, make.claimInvocation('new', { claimedAt: 50 }));
    assert.equal(await blobCount(), 2);
    assert.equal(await store.retention.deleteExpired(100, 50, 100), 2);
    assert.equal(await store.retention.deleteExpired(100, 50, 100), 0);
    assert.equal(await blobCount(), 0);
    assert.equal(await store.records.idempotency(TENANT, 'POST /v1/runs', 'old'), null);
    assert.notEqual(await store.records.idempotency(TENANT, 'POST /v1/runs', 'new'), null);
    assert.equal(await store.records.invocation(TENANT, 'old'), null);
    assert.notEqual(await store.records.invocation(TENANT, 'new'), null);
  });

  test('what has expired goes in steps, the oldest first', async () => {
    const { store } = current();
    for (let index = 0; index < 5; index++) {
      await win(store, make.idempotency(`key-${index}`, { expiresAt: index }));
      await win(store, make.claimInvocation(`call-${index}`, { claimedAt: index }));
    }
    const left = async () =>
      (
        await Promise.all([0, 1, 2, 3, 4].map((index) => store.records.invocation(TENANT, `call-${index}`)))
      ).flatMap((record, index) => (record ? [index] : []));
    const counts = [];
    for (let count = -1; count !== 0; counts.push(count))
      count = await store.retention.deleteExpired(9, 4, 2);
    assert.deepEqual(counts, [4, 4, 1, 0]);
    assert.deepEqual(await left(), [4]);
  });

  test('a record that replaces an expired one takes its blob away', async () => {
    const { store, blobCount } = current();
    await win(store, make.idempotency('key', { expiresAt: 100, body: bigText(BIG, 'a') }));
    await win(store, make.idempotency('key', { now: 100, body: bigText(BIG, 'b') }));
    assert.equal(await blobCount(), 1);
    assert.equal((await store.records.idempotency(TENANT, 'POST /v1/runs', 'key'))?.body, bigText(BIG, 'b'));
  });
}
