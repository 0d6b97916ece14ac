import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CurrentStore } from '../contract.ts';
import * as make from './fixtures.ts';
import { TENANT, win } from './fixtures.ts';

const WON = { won: true } as const;
const lost = (reason: 'stale' | 'exists' | 'full', write = 0) => ({ won: false, write, reason }) as const;

export function preconditionContract(current: CurrentStore): void {
  describe('preconditions', () => {
    expectEntryTests(current);
    expectLeaseTests(current);
    adjustTests(current);
  });
}

function expectEntryTests(current: CurrentStore): void {
  test('an entry is expected at its version, or to be absent; the expectation writes nothing', async () => {
    const { store } = current();
    await win(store, make.putEntry('e', null));
    const results = await store.commit([
      [make.expectEntry('e', 1), make.putEntry('a', null)],
      [make.expectEntry('e', 2)],
      [make.expectEntry('e', null)],
      [make.expectEntry('none', null), make.putEntry('b', null)],
      [make.putEntry('c', null), make.expectEntry('none', 1)],
    ]);
    assert.deepEqual(results, [WON, lost('stale'), lost('stale'), WON, lost('stale', 1)]);
    const ids = (await store.entries.list('mail', TENANT, { limit: 10 })).map(({ id }) => id);
    assert.deepEqual(ids, ['e', 'b', 'a']);
    assert.equal((await store.entries.get(make.key('e')))?.version, 1);
  });

  test('an expectation sees what earlier writes of its batch did, and may be of a key that is then written', async () => {
    const { store } = current();
    const results = await store.commit([
      [make.expectEntry('e', null), make.putEntry('e', null)],
      [make.expectEntry('e', 1), make.putEntry('e', 1)],
      [make.expectEntry('e', 1)],
      [make.expectEntry('e', 2), make.deleteEntry('e', 2), make.expectEntry('e', null)],
      [make.expectEntry('e', null), make.expectEntry('e', null)],
    ]);
    assert.deepEqual(results, [WON, WON, lost('stale'), WON, WON]);
    assert.equal(await store.entries.get(make.key('e')), null);
  });

  test('of two concurrent changes that exclude each other one wins', async () => {
    const { store } = current();
    for (let round = 0; round < 40; round++) {
      const [a, b] = [`a-${round}`, `b-${round}`];
      const results = await Promise.all([
        store.commit([[make.expectEntry(a, null), make.putEntry(b, null)]]),
        store.commit([[make.expectEntry(b, null), make.putEntry(a, null)]]),
      ]);
      assert.equal(results.flat().filter(({ won }) => won).length, 1, `round ${round}`);
    }
  });

  test('an expected entry does not change before the commit', async () => {
    const { store } = current();
    await win(store, make.putEntry('limit', null), make.putEntry('use', null));
    for (let version = 1; version < 30; version++) {
      const results = await Promise.all([
        store.commit([[make.expectEntry('limit', version), make.putEntry('use', version)]]),
        store.commit([[make.expectEntry('use', version), make.putEntry('limit', version)]]),
      ]);
      assert.equal(results.flat().filter(({ won }) => won).length, 1, `version ${version}`);
      await store.commit([[make.putEntry('limit', version)], [make.putEntry('use', version)]]);
    }
  });

  test('a first version that was given keeps an old version from coming again', async () => {
    const { store } = current();
    await win(store, { ...make.putEntry('e', null), firstVersion: 7 });
    await win(store, make.putEntry('e', 7));
    await win(store, make.deleteEntry('e', 8));
    await win(store, { ...make.putEntry('e', null), firstVersion: 9 });
    assert.deepEqual(await store.commit([[make.putEntry('e', 8)]]), [lost('stale')]);
    assert.equal((await store.entries.get(make.key('e')))?.version, 9);
  });
}

function expectLeaseTests(current: CurrentStore): void {
  test('a lease is expected to last', async () => {
    const { store } = current();
    const epoch = await store.leases.acquire('process', 1_000, 500);
    const expected = (write: number, now = 1_400) => ({ kind: 'expectLease', epoch: write, now }) as const;
    const results = await store.commit([
      [expected(epoch), make.putEntry('e', null)],
      [make.putEntry('f', null), expected(epoch + 1)],
    ]);
    assert.deepEqual(results, [WON, lost('stale', 1)]);
    await store.leases.release(epoch);
    assert.deepEqual(await store.commit([[expected(epoch)]]), [lost('stale')]);
    assert.equal(await store.entries.get(make.key('f')), null);
  });
}

function adjustTests(current: CurrentStore): void {
  const adjust = (delta: number, max?: number, id = 'c') =>
    ({ kind: 'adjust', key: make.key(id), delta, ...(max !== undefined && { max }) }) as const;

  test('a counter starts at 0, is full above its maximum, and a won commit answers its values', async () => {
    const { store } = current();
    assert.equal(await store.entries.counter(make.key('c')), 0);
    const results = await store.commit([
      [adjust(6, 10), adjust(5, 10, 'd')],
      [adjust(5, 10)],
      [adjust(1, 10, 'd'), adjust(5, 10)],
      [adjust(4, 10), adjust(-3, 1)],
      [adjust(2, 1, 'new')],
    ]);
    assert.deepEqual(results, [
      { won: true, values: [6, 5] },
      lost('full'),
      lost('full', 1),
      { won: true, values: [10, 7] },
      lost('full'),
    ]);
    assert.equal(await store.entries.counter(make.key('c')), 7);
    assert.equal(await store.entries.counter(make.key('d')), 5);
    assert.equal(await store.entries.counter({ ...make.key('c'), tenant: 'other' }), 0);
  });

  test('a counter below its floor counts from there, so one of times is a token bucket', async () => {
    const { store } = current();
    const take = (now: number) => [{ ...adjust(10, now + 20), floor: now }];
    const results = await store.commit([take(100), take(100), take(100), take(109), take(110), take(500)]);
    const [taken, full] = [(value: number) => ({ won: true, values: [value] }), lost('full')];
    assert.deepEqual(results, [taken(110), taken(120), full, full, taken(130), taken(510)]);
  });

  test('a counter without a maximum stops at the largest safe integer, and never loses', async () => {
    const { store } = current();
    const { MAX_SAFE_INTEGER: most, MIN_SAFE_INTEGER: least } = Number;
    const results = await store.commit([[adjust(most), adjust(7)], [adjust(-8)], [adjust(least, 0, 'd')]]);
    assert.deepEqual(results.slice(0, 2), [
      { won: true, values: [most, most] },
      { won: true, values: [most - 8] },
    ]);
    assert.deepEqual(await store.commit([[adjust(-9, 0, 'd')]]), [{ won: true, values: [least] }]);
    assert.equal(await store.entries.counter(make.key('d')), least);
  });

  test('concurrent adjustments are all counted, and none passes the maximum', async () => {
    const { store } = current();
    const groups = Array.from({ length: 40 }, (_, i) => [adjust(1, 25), make.putEntry(`e-${i}`, null)]);
    const results = (await Promise.all(groups.map((group) => store.commit([group])))).flat();
    const values = results.flatMap((result) => (result.won ? (result.values ?? []) : []));
    assert.deepEqual(
      values.toSorted((a, b) => a - b),
      Array.from({ length: 25 }, (_, i) => i + 1),
    );
    assert.equal(await store.entries.counter(make.key('c')), 25);
    assert.equal(await store.entries.count('mail', TENANT), 25);
  });

  test('counters are listed by the beginning of their ids', async () => {
    const { store } = current();
    await store.commit([
      [adjust(1, 9, 'a/1'), adjust(2, 9, 'a/2'), adjust(3, 9, 'a/3'), adjust(4, 9, 'b/1')],
    ]);
    const list = (prefix: string, more = {}) => {
      const { kind, tenant } = make.key('c');
      return store.entries.counters(kind, tenant, { prefix, limit: 2, ...more });
    };
    assert.deepEqual(await list('a/'), [
      { id: 'a/1', value: 1 },
      { id: 'a/2', value: 2 },
    ]);
    assert.deepEqual(await list('a/', { afterId: 'a/2' }), [{ id: 'a/3', value: 3 }]);
    assert.deepEqual(await store.entries.counters('mail', 'other', { prefix: '', limit: 9 }), []);
  });

  test('a counter may belong to a claim', async () => {
    const { store } = current();
    const claimed = await store.commit([[make.claimInvocation('call'), adjust(3, 5)]]);
    assert.deepEqual(claimed, [{ won: true, values: [3] }]);
    assert.deepEqual(await store.commit([[make.claimInvocation('other'), adjust(3, 5)]]), [lost('full', 1)]);
    assert.equal(await store.records.invocation(TENANT, 'other'), null);
  });
}
