import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CurrentStore } from '../contract.ts';
import { FEED_KEPT_MS, type FeedRow, type Store } from '../port.ts';
import * as make from './fixtures.ts';
import { TENANT, win } from './fixtures.ts';

const NOW = FEED_KEPT_MS * 2;
const feed = { actor: 'key-1', at: NOW };

const after = (store: Store, cursor: number, limit = 100, now = NOW) =>
  store.feed.after(cursor, { tenant: TENANT, now, limit });

const told = ({ id, version, op }: FeedRow): string => `${op} ${id} ${version}`;

export function feedContract(current: CurrentStore): void {
  describe('feed', () => {
    rowTests(current);
    orderTests(current);
    expiryTests(current);
  });
}

function rowTests(current: CurrentStore): void {
  test('winning writes that ask for it are told, in order, to their tenant', async () => {
    const { store } = current();
    const start = await store.feed.last();
    await win(store, make.putEntry('quiet', null));
    await store.commit([
      [{ ...make.putEntry('a', null, { workspace: 'w' }), feed }],
      [{ ...make.putEntry('a', null), feed }],
      [
        { ...make.putEntry('a', 1, { workspace: 'w' }), feed },
        { ...make.putEntry('b', null), feed },
      ],
      [{ ...make.putEntry('x', null, { tenant: 'other' }), feed }],
    ]);
    await win(store, { ...make.deleteEntry('a', 2), feed });
    const page = await after(store, start);
    assert.deepEqual(page?.rows.map(told), ['create a 1', 'update a 2', 'create b 1', 'delete a 2']);
    const { number: _, ...last } = page!.rows.at(-1)!;
    assert.deepEqual(last, { ...make.key('a'), workspace: 'w', version: 2, op: 'delete', ...feed });
    assert.deepEqual(await after(store, page!.next), { rows: [], next: page!.next });
    assert.equal(await store.feed.last(), page!.next);
  });

  test('pages go on where the one before ended', async () => {
    const { store } = current();
    let cursor = await store.feed.last();
    for (const id of ['a', 'b', 'c']) await win(store, { ...make.putEntry(id, null), feed });
    const pages: string[][] = [];
    for (let i = 0; i < 3; i++) {
      const page = await after(store, cursor, 2);
      pages.push(page!.rows.map(({ id }) => id));
      cursor = page!.next;
    }
    assert.deepEqual(pages, [['a', 'b'], ['c'], []]);
  });

  test('of one kind only its rows are read, and the next page begins after the last of all', async () => {
    const { store } = current();
    const start = await store.feed.last();
    for (const kind of ['notes', 'other', 'notes', 'other'])
      await win(store, { ...make.putEntry(`a-${await store.feed.last()}`, null, { kind }), feed });
    const notes = (cursor: number, limit: number) =>
      store.feed.after(cursor, { tenant: TENANT, kind: 'notes', now: NOW, limit });
    const first = await notes(start, 1);
    assert.deepEqual(
      first?.rows.map(({ kind, number }) => [kind, number === first.next]),
      [['notes', true]],
    );
    const second = await notes(first.next, 2);
    assert.deepEqual(
      second?.rows.map(({ kind }) => kind),
      ['notes'],
    );
    assert.equal(second.next, await store.feed.last());
  });
}

function orderTests(current: CurrentStore): void {
  test('a reader beside concurrent writers misses nothing and sees the versions of an entry in order', async () => {
    const { store } = current();
    let cursor = await store.feed.last();
    const seen: FeedRow[] = [];
    let isDone = false;
    const writer = async (id: string): Promise<void> => {
      for (let version = 0; version < 25; version++)
        await win(store, { ...make.putEntry(id, version || null), feed });
    };
    const reader = async (): Promise<void> => {
      for (let wasDone = false; !wasDone; ) {
        wasDone = isDone;
        const page = await after(store, cursor, 7);
        seen.push(...page!.rows);
        cursor = page!.next;
        if (page!.rows.length > 0) wasDone = false;
      }
    };
    const writing = Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map(writer)).finally(() => {
      isDone = true;
    });
    await Promise.all([writing, reader()]);
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f'])
      assert.deepEqual(
        seen.filter((row) => row.id === id).map(({ version }) => version),
        Array.from({ length: 25 }, (_, i) => i + 1),
      );
  });
}

function expiryTests(current: CurrentStore): void {
  test('rows go after their time, and an older cursor is told so', async () => {
    const { store } = current();
    const start = await store.feed.last();
    for (const [id, at] of [
      ['a', 1],
      ['b', 2],
      ['c', NOW],
    ] as const)
      await win(store, { ...make.putEntry(id, null), feed: { actor: null, at } });
    const all = (await after(store, start, 100, 3))?.rows ?? [];
    assert.equal(all.length, 3);
    assert.equal(await after(store, start), null, 'before the sweep too');
    assert.equal(await store.retention.deleteExpired(NOW, 0, 10), 1);
    assert.equal(await store.retention.deleteExpired(NOW, 0, 10), 0);
    assert.equal(await after(store, start), null);
    assert.deepEqual(
      (await after(store, all[1]!.number))?.rows.map(({ id }) => id),
      ['c'],
    );
  });
}
