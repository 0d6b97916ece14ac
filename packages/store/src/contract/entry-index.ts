import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CurrentStore } from '../contract.ts';
import type { Entry, IndexRange, IndexValue, Store } from '../port.ts';
import * as make from './fixtures.ts';
import { TENANT, win } from './fixtures.ts';

const WON = { won: true } as const;
const lost = (reason: 'stale' | 'exists' | 'full', write = 0) => ({ won: false, write, reason }) as const;
const ids = (entries: readonly Entry[]): string[] => entries.map((entry) => entry.id);
const values = (of: Record<string, string>): IndexValue[] =>
  Object.entries(of).map(([name, value]) => ({ name, value }));
const unique = (value: string): { index: IndexValue[] } => ({
  index: [{ name: 'title', value, unique: true }],
});
const range = (store: Store, of: Partial<IndexRange>) =>
  store.entries.range('mail', TENANT, { name: 'by', limit: 10, ...of });

export function entryIndexContract(current: CurrentStore): void {
  describe('entry index', () => {
    pageTests(current);
    uniqueTests(current);
    limitTests(current);
    runTests(current);
    lengthTests(current);
  });
}

function pageTests(current: CurrentStore): void {
  test('equal values come by id, newest first or oldest first, from a cursor', async () => {
    const { store } = current();
    for (const id of ['01', '02', '03', '04'])
      await win(
        store,
        make.putEntry(id, null, { index: values({ by: id === '02' ? 'b' : 'a', other: 'b' }) }),
      );
    const list = async (filter: object) =>
      ids(
        await store.entries.list('mail', TENANT, { index: { name: 'by', value: 'a' }, limit: 10, ...filter }),
      );
    assert.deepEqual(await list({}), ['04', '03', '01']);
    assert.deepEqual(await list({ limit: 1, beforeId: '04' }), ['03']);
    assert.deepEqual(await list({ oldestFirst: true, afterId: '01' }), ['03', '04']);
    assert.deepEqual(await list({ index: { name: 'other', value: 'a' } }), []);
    assert.deepEqual(
      await store.entries.list('mail', 'x', { index: { name: 'by', value: 'a' }, limit: 1 }),
      [],
    );
  });

  test('ranges and prefixes come by value and id, page by page', async () => {
    const { store } = current();
    const all = { e1: 'ab', e2: 'a', e3: 'b', e4: 'ab', e5: 'á', e6: 'B' };
    for (const [id, by] of Object.entries(all))
      await win(store, make.putEntry(id, null, { index: values({ by }) }));
    assert.deepEqual(ids(await range(store, {})), ['e6', 'e2', 'e1', 'e4', 'e3', 'e5']);
    assert.deepEqual(ids(await range(store, { prefix: 'a' })), ['e2', 'e1', 'e4']);
    assert.deepEqual(ids(await range(store, { from: 'ab', to: 'b' })), ['e1', 'e4']);
    const [first, second] = await range(store, { prefix: 'a', limit: 2 });
    assert.equal(second?.value, 'ab');
    assert.deepEqual(ids(await range(store, { prefix: 'a', after: second! })), ['e4']);
    assert.deepEqual(ids(await range(store, { prefix: 'a', after: first!, limit: 1 })), ['e1']);
  });

  test('the index follows its entry: replaced, deleted, expired', async () => {
    const { store } = current();
    const two = { index: [...values({ by: 'a' }), { name: 'by', value: 'b' }] };
    await win(store, make.putEntry('e', null, two), make.putEntry('old', null, { ...two, expiresAt: 5 }));
    assert.deepEqual(ids(await range(store, {})), ['e', 'old', 'e', 'old']);
    assert.equal(await store.retention.deleteExpired(5, 0, 10), 1);
    await win(store, make.putEntry('e', 1, { index: values({ by: 'c' }) }));
    assert.deepEqual(
      (await range(store, {})).map(({ value }) => value),
      ['c'],
    );
    await win(store, make.putEntry('old', null));
    assert.deepEqual(ids(await range(store, { to: 'c' })), []);
    await win(store, make.deleteEntry('e', 2), make.putEntry('e', null));
    assert.deepEqual(await range(store, {}), []);
  });

  test('a workspace is kept with its entry', async () => {
    const { store } = current();
    await win(store, make.putEntry('e', null, { workspace: 'w', index: values({ by: 'a' }) }));
    assert.equal((await store.entries.get(make.key('e')))?.workspace, 'w');
    assert.equal((await range(store, {}))[0]?.workspace, 'w');
  });

  test('many entries are read at once, in the order that was asked for', async () => {
    const { store } = current();
    await win(store, make.putEntry('a', null), make.putEntry('b', null));
    const keys = ['b', 'none', 'a', 'b', 'a\0'].map((id) => make.key(id));
    const found = await store.entries.getMany(keys);
    assert.deepEqual(
      found.map((entry) => entry?.id ?? null),
      ['b', null, 'a', 'b', null],
    );
    assert.deepEqual(await store.entries.getMany([]), []);
  });

  test('large entries can be left out of what is read at once', async () => {
    const { store } = current();
    const large = { body: JSON.stringify('x'.repeat(70_000)) };
    await win(store, make.putEntry('a', null), make.putEntry('b', null, large));
    const keys = ['b', 'none', 'a'].map((id) => make.key(id));
    const [b, none, a] = await store.entries.getSmall(keys);
    assert.deepEqual([b, none, a], ['large', null, await store.entries.get(make.key('a'))]);
    assert.equal((await store.entries.get(make.key('b')))?.body, large.body);
  });
}

function uniqueTests(current: CurrentStore): void {
  test('a unique value is of one entry of its kind and tenant, until that lets it go', async () => {
    const { store } = current();
    await win(store, make.putEntry('a', null, unique('x')));
    const results = await store.commit([
      [make.putEntry('b', null, unique('x'))],
      [make.putEntry('a', 1, unique('x'))],
      [make.putEntry('b', null, { ...unique('x'), tenant: 'other' })],
      [make.putEntry('b', null, unique('y')), make.putEntry('a', 2, unique('y'))],
      [make.deleteEntry('a', 2), make.putEntry('b', null, unique('x'))],
      [make.putEntry('b', 1, unique('z'))],
      [make.putEntry('c', null, unique('x'))],
    ]);
    assert.deepEqual(results, [lost('exists'), WON, WON, lost('exists', 1), WON, WON, WON]);
    assert.deepEqual(await store.commit([[make.putEntry('d', null, unique('z'))]]), [lost('exists')]);
  });

  test('of concurrent entries with one unique value one wins', async () => {
    const { store } = current();
    const results = await Promise.all(
      Array.from({ length: 12 }, (_, i) => store.commit([[make.putEntry(`e-${i}`, null, unique('x'))]])),
    );
    assert.equal(results.flat().filter(({ won }) => won).length, 1);
    assert.equal(await store.entries.count('mail', TENANT), 1);
  });
}

function limitTests(current: CurrentStore): void {
  const put = (id: string, tenant = TENANT) => ({ ...make.putEntry(id, null, { tenant }), max: 3 });

  test('a kind and tenant has no more entries than its limit, a taken id comes first', async () => {
    const { store } = current();
    const results = await store.commit([
      [put('a')],
      [put('b'), put('c'), put('d')],
      [put('b'), put('c')],
      [put('d')],
      [put('a')],
      [put('a', 'other')],
      [make.putEntry('a', 1)],
      [make.deleteEntry('b', 1), put('d')],
    ]);
    const full = lost('full');
    assert.deepEqual(results, [WON, lost('full', 2), WON, full, lost('exists'), WON, WON, WON]);
    assert.equal(await store.entries.count('mail', TENANT), 3);
  });

  test('concurrent creations do not pass the limit', async () => {
    const { store } = current();
    const results = await Promise.all(Array.from({ length: 12 }, (_, i) => store.commit([[put(`e-${i}`)]])));
    assert.equal(results.flat().filter(({ won }) => won).length, 3);
    assert.equal(await store.entries.count('mail', TENANT), 3);
  });
}

function runTests(current: CurrentStore): void {
  test('an entry that ends with its run is deleted with it, with its index and blob', async () => {
    const { store, blobCount } = current();
    const of = { runId: 'run-1', index: values({ by: 'a' }), body: make.bigText(100_000) };
    await win(store, make.create('run-1', { head: { status: 'completed', endedAt: 1 } }));
    await win(store, make.putEntry('e', null, of), make.putEntry('kept', null));
    assert.equal(await store.retention.deleteEnded(2, 10), 1);
    assert.deepEqual(ids(await store.entries.list('mail', TENANT, { limit: 10 })), ['kept']);
    assert.deepEqual(await range(store, {}), []);
    assert.equal(await blobCount(), 0);
  });
}

function lengthTests(current: CurrentStore): void {
  test('ids have at most 512 bytes, index values 256', async () => {
    const { store } = current();
    const longest = 'é'.repeat(128);
    await win(store, make.putEntry(longest + longest, null, unique(longest)));
    const long = `${longest}${longest}x`;
    for (const write of [
      make.putEntry(long, null),
      make.putEntry('e', null, unique(`${longest}x`)),
      make.expectEntry(long, 1),
    ])
      await assert.rejects(store.commit([[write]]), { code: 'too_long' });
    assert.equal(await store.entries.count('mail', TENANT), 1);
  });
}
