import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CurrentStore } from '../contract.ts';
import type { Entry, EntryFilter, Store } from '../port.ts';
import * as make from './fixtures.ts';
import { bigText, MEGABYTE, TENANT, win } from './fixtures.ts';

const ids = (entries: readonly Entry[]): string[] => entries.map((entry) => entry.id);
const get = (store: Store, id: string) => store.entries.get({ kind: 'mail', tenant: TENANT, id });

export function entryReadContract(current: CurrentStore): void {
  describe('entry reads', () => {
    listTests(current);
    hostWideTests(current);
    bodyTests(current);
    expiryTests(current);
  });
}

function listTests(current: CurrentStore): void {
  test('the list is newest first, filtered by ref, and continues at the cursor', async () => {
    const { store } = current();
    const all = ['01A', '01B', '01a', '01b', '02A'];
    for (const [i, id] of all.entries()) {
      await win(store, make.putEntry(id, null, { ref: i % 2 === 0 ? 'even' : 'odd' }));
    }
    await win(store, make.putEntry('00', null), make.putEntry('99', null, { kind: 'webhook', ref: 'even' }));
    const list = async (filter: Partial<EntryFilter>) =>
      ids(await store.entries.list('mail', TENANT, { limit: 10, ...filter }));
    assert.deepEqual(await list({}), ['00', ...all].reverse());
    assert.deepEqual(await list({ limit: 2 }), ['02A', '01b']);
    assert.deepEqual(await list({ limit: 2, beforeId: '01b' }), ['01a', '01B']);
    assert.deepEqual(await list({ beforeId: '00' }), []);
    assert.deepEqual(await list({ ref: 'even' }), ['02A', '01a', '01A']);
    assert.deepEqual(await list({ ref: 'even', beforeId: '02A', limit: 1 }), ['01a']);
    assert.deepEqual(await list({ ref: 'even', oldestFirst: true, limit: 2 }), ['01A', '01a']);
    assert.deepEqual(await list({ oldestFirst: true, beforeId: '01a' }), ['00', '01A', '01B']);
    assert.deepEqual(await list({ ref: 'even', oldestFirst: true, afterId: '01A', limit: 1 }), ['01a']);
    assert.deepEqual(await list({ oldestFirst: true, afterId: '01a' }), ['01b', '02A']);
    assert.deepEqual(await list({ ref: 'none' }), []);
  });

  test('a page ends with the entry that takes it above its bytes', async () => {
    const { store } = current();
    const index = [{ name: 'n', value: 'v' }];
    const sizes = { a: 100_000, b: 100, c: 70_000, d: 100 };
    for (const [id, bytes] of Object.entries(sizes))
      await win(store, make.putEntry(id, null, { ref: 'r', index, body: bigText(bytes) }));
    const all = await store.entries.list('mail', TENANT, { limit: 10 });
    for (const by of [{}, { ref: 'r' }, { index: { name: 'n', value: 'v' } }]) {
      const list = (filter: Partial<EntryFilter>) =>
        store.entries.list('mail', TENANT, { limit: 10, ...by, ...filter });
      assert.deepEqual(await list({ bytesMax: 70_100 }), all.slice(0, 3));
      assert.deepEqual(ids(await list({ bytesMax: 70_099 })), ['d', 'c']);
      assert.deepEqual(ids(await list({ bytesMax: 1, oldestFirst: true })), ['a']);
      assert.deepEqual(ids(await list({ bytesMax: 1_000_000, limit: 2 })), ['d', 'c']);
    }
  });

  test('a put that changes the ref moves the entry, and what is deleted is listed nowhere', async () => {
    const { store } = current();
    await win(store, make.putEntry('a', null, { ref: 'one' }), make.putEntry('b', null, { ref: 'one' }));
    await win(store, make.putEntry('a', 1, { ref: 'two' }), make.deleteEntry('b', 1));
    assert.deepEqual(await store.entries.list('mail', TENANT, { ref: 'one', limit: 10 }), []);
    assert.deepEqual(ids(await store.entries.list('mail', TENANT, { ref: 'two', limit: 10 })), ['a']);
    assert.equal(await store.entries.count('mail', TENANT), 1);
  });
}

function hostWideTests(current: CurrentStore): void {
  test('what is due comes earliest first, of every tenant, up to the limit', async () => {
    const { store } = current();
    await win(store, make.putEntry('late', null, { dueAt: 300 }), make.putEntry('never', null));
    await win(store, make.putEntry('tie-b', null, { dueAt: 100 }));
    await win(store, make.putEntry('tie-a', null, { dueAt: 100, tenant: 'other' }));
    await win(store, make.putEntry('webhook', null, { dueAt: 1, kind: 'webhook' }));
    assert.equal(await store.entries.nextDueAt('mail'), 100);
    assert.deepEqual(await store.entries.due('mail', 99, 10), []);
    assert.deepEqual(ids(await store.entries.due('mail', 100, 10)), ['tie-a', 'tie-b']);
    const [first] = await store.entries.due('mail', 300, 1);
    assert.deepEqual(ids(await store.entries.due('mail', 300, 10, first)), ['tie-b', 'late']);
    assert.deepEqual(ids(await store.entries.due('mail', 300, 10)), ['tie-a', 'tie-b', 'late']);
    assert.deepEqual(ids(await store.entries.due('mail', 300, 1)), ['tie-a']);
    await win(store, make.putEntry('tie-a', 1, { tenant: 'other' }), make.deleteEntry('tie-b', 1));
    assert.equal(await store.entries.nextDueAt('mail'), 300);
    await win(store, make.putEntry('late', 1));
    assert.equal(await store.entries.nextDueAt('mail'), null);
  });

  test('all entries of a kind come by pages, by tenant and id', async () => {
    const { store } = current();
    const keys = ['a/2', 'a/1', 'b/1', 'B/9', 'b/0'].map((key) => key.split('/') as [string, string]);
    for (const [tenant, id] of keys) await win(store, make.putEntry(id, null, { tenant }));
    await win(store, make.putEntry('1', null, { tenant: 'a', kind: 'webhook' }));
    const pages: string[][] = [];
    for (let page = await store.entries.all('mail', null, 2); page.length > 0; ) {
      pages.push(page.map((entry) => `${entry.tenant}/${entry.id}`));
      page = await store.entries.all('mail', page.at(-1) ?? null, 2);
    }
    assert.deepEqual(pages, [['B/9', 'a/1'], ['a/2', 'b/0'], ['b/1']]);
  });
}

function bodyTests(current: CurrentStore): void {
  test('big bodies come back from every read, and go when they are replaced or deleted', async () => {
    const { store, blobCount } = current();
    const big = bigText(MEGABYTE);
    await win(
      store,
      make.putEntry('e', null, { body: big, dueAt: 1 }),
      make.putEntry('f', null, { body: big }),
    );
    assert.equal(await blobCount(), 1);
    assert.equal((await get(store, 'e'))?.body, big);
    assert.equal((await store.entries.due('mail', 1, 1))[0]?.body, big);
    assert.equal((await store.entries.list('mail', TENANT, { limit: 1 }))[0]?.body, big);
    assert.equal((await store.entries.all('mail', null, 1))[0]?.body, big);
    await win(store, make.putEntry('e', 1, { body: big }));
    assert.equal((await get(store, 'e'))?.body, big);
    await win(store, make.putEntry('e', 2, { body: bigText(MEGABYTE, 'y') }));
    assert.equal(await blobCount(), 2);
    await win(store, make.putEntry('e', 3), make.deleteEntry('f', 1));
    assert.equal(await blobCount(), 0);
  });

  test('a losing group and an entry that did not last leave no blob', async () => {
    const { store, blobCount } = current();
    const body = bigText(MEGABYTE);
    await win(store, make.putEntry('taken', null));
    await store.commit([
      [make.putEntry('taken', null, { body })],
      [make.putEntry('taken', 9, { body })],
      [make.putEntry('e', null, { body }), make.deleteEntry('none', 1)],
      [make.putEntry('brief', null, { body }), make.deleteEntry('brief', 1)],
      [make.putEntry('changed', null, { body }), make.putEntry('changed', 1)],
    ]);
    assert.equal(await blobCount(), 0);
  });
}

function expiryTests(current: CurrentStore): void {
  test('the sweep deletes expired entries with their blobs, of every kind and tenant', async () => {
    const { store, blobCount } = current();
    await win(store, make.putEntry('old', null, { expiresAt: 100, body: bigText(MEGABYTE) }));
    await win(store, make.putEntry('old', null, { expiresAt: 50, tenant: 'other', kind: 'webhook' }));
    await win(store, make.putEntry('new', null, { expiresAt: 101 }), make.putEntry('kept', null));
    assert.equal(await store.retention.deleteExpired(100, 0, 100), 2);
    assert.equal(await store.retention.deleteExpired(100, 0, 100), 0);
    assert.deepEqual(ids(await store.entries.all('mail', null, 10)), ['kept', 'new']);
    assert.deepEqual(await store.entries.all('webhook', null, 10), []);
    assert.equal(await blobCount(), 0);
  });
}
