import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CurrentStore } from '../contract.ts';
import type { Store, Write } from '../port.ts';
import * as make from './fixtures.ts';
import { TENANT, win } from './fixtures.ts';

const WON = { won: true } as const;
const stale = (write = 0) => ({ won: false, write, reason: 'stale' }) as const;
const exists = (write = 0) => ({ won: false, write, reason: 'exists' }) as const;

const get = (store: Store, id: string, tenant = TENANT) => store.entries.get({ kind: 'mail', tenant, id });

export function entryContract(current: CurrentStore): void {
  describe('entries', () => {
    writeTests(current);
    groupTests(current);
    raceTests(current);
    tenantTests(current);
  });
}

function writeTests(current: CurrentStore): void {
  test('an entry is created once, at version 1', async () => {
    const { store } = current();
    const over = { ref: 'run-1', dueAt: 5, expiresAt: 9, createdAt: 2, body: '{"a":1}' };
    await win(store, make.putEntry('e', null, over));
    assert.deepEqual(await get(store, 'e'), { ...make.entry('e', over), version: 1 });
    assert.deepEqual(await store.commit([[make.putEntry('e', null, { body: '{"b":1}' })]]), [exists()]);
    assert.equal((await get(store, 'e'))?.body, '{"a":1}');
  });

  test('a put replaces everything at the expected version and adds one', async () => {
    const { store } = current();
    await win(store, make.putEntry('e', null, { ref: 'run-1', dueAt: 5, expiresAt: 9, createdAt: 2 }));
    const next = make.entry('e', { ref: null, dueAt: null, expiresAt: null, createdAt: 3, body: '{"n":2}' });
    await win(store, make.putEntry('e', 1, next));
    assert.deepEqual(await get(store, 'e'), { ...next, version: 2 });
    for (const version of [0, 1, 3]) {
      assert.deepEqual(await store.commit([[make.putEntry('e', version, { body: '{"late":1}' })]]), [
        stale(),
      ]);
    }
    assert.deepEqual(await get(store, 'e'), { ...next, version: 2 });
  });

  test('what is not there has no version to put or delete', async () => {
    const { store } = current();
    for (const version of [0, 1]) {
      const results = await store.commit([[make.putEntry('e', version)], [make.deleteEntry('e', version)]]);
      assert.deepEqual(results, [stale(), stale()]);
    }
    assert.equal(await get(store, 'e'), null);
  });

  test('a delete wins at the expected version only; then the key is free', async () => {
    const { store } = current();
    await win(store, make.putEntry('e', null));
    await win(store, make.putEntry('e', 1));
    assert.deepEqual(await store.commit([[make.deleteEntry('e', 1)]]), [stale()]);
    await win(store, make.deleteEntry('e', 2));
    assert.equal(await get(store, 'e'), null);
    assert.deepEqual(await store.commit([[make.deleteEntry('e', 2)]]), [stale()]);
    await win(store, make.putEntry('e', null));
    assert.equal((await get(store, 'e'))?.version, 1);
  });
}

function groupTests(current: CurrentStore): void {
  test('I1: runs and entries of a group win or lose as one', async () => {
    const { store } = current();
    await win(store, make.putEntry('held', null), make.create('run-1'));
    const results = await store.commit([
      [make.create('run-2'), make.putEntry('new', null), make.putEntry('held', 7)],
      [make.putEntry('new', null), make.deleteEntry('held', 1), make.append('run-1', 9)],
      [make.append('run-1', 1), make.putEntry('new', null), make.deleteEntry('held', 1)],
    ]);
    assert.deepEqual(results, [stale(2), stale(2), WON]);
    assert.equal(await store.runs.row(TENANT, 'run-2'), null);
    assert.equal((await store.runs.row(TENANT, 'run-1'))?.nextSeq, 2);
    assert.equal(await get(store, 'held'), null);
    assert.equal((await get(store, 'new'))?.version, 1);
  });

  test('a batch may write one entry many times, each group seeing the ones before', async () => {
    const { store } = current();
    const results = await store.commit([
      [make.putEntry('e', null, { body: '1' }), make.putEntry('e', 1, { body: '2' })],
      [make.putEntry('e', null)],
      [make.deleteEntry('e', 2), make.putEntry('e', null, { body: '3' })],
      [make.putEntry('e', 2)],
      [make.putEntry('e', 1, { body: '4' })],
      [make.putEntry('brief', null), make.deleteEntry('brief', 1)],
    ]);
    assert.deepEqual(results, [WON, exists(), WON, stale(), WON, WON]);
    assert.deepEqual(await get(store, 'e'), { ...make.entry('e', { body: '4' }), version: 2 });
    assert.equal(await get(store, 'brief'), null);
  });

  test('an entry that was stored may be deleted and made again in one batch', async () => {
    const { store } = current();
    await win(store, make.putEntry('e', null, { ref: 'old' }));
    await win(store, make.deleteEntry('e', 1), make.putEntry('e', null, { ref: 'new' }));
    assert.deepEqual(await get(store, 'e'), { ...make.entry('e', { ref: 'new' }), version: 1 });
  });
}

function tenantTests(current: CurrentStore): void {
  test('I4: tenants neither see nor change each other, whatever their ids', async () => {
    const { store } = current();
    await win(store, make.putEntry('e', null, { ref: 'r', body: '{"of":"acme"}' }));
    assert.equal(await get(store, 'e', 'other'), null);
    assert.deepEqual(await store.entries.list('mail', 'other', { ref: 'r', limit: 10 }), []);
    assert.equal(await store.entries.count('mail', 'other'), 0);
    const results = await store.commit([
      [make.putEntry('e', 1, { tenant: 'other' })],
      [make.deleteEntry('e', 1, { tenant: 'other' })],
      [make.putEntry('e', null, { tenant: 'other', ref: 'r', body: '{"of":"other"}' })],
    ]);
    assert.deepEqual(results, [stale(), stale(), WON]);
    assert.equal((await get(store, 'e'))?.body, '{"of":"acme"}');
    assert.equal((await get(store, 'e', 'other'))?.body, '{"of":"other"}');
    assert.equal(await store.entries.count('mail', TENANT), 1);
  });

  test('kinds are apart: the same id may be of several', async () => {
    const { store } = current();
    await win(store, make.putEntry('e', null), make.putEntry('e', null, { kind: 'webhook' }));
    await win(store, make.deleteEntry('e', 1));
    assert.equal(await store.entries.count('webhook', TENANT), 1);
  });

  test('a key that cannot be stored is refused, and found nowhere', async () => {
    const { store } = current();
    for (const bad of ['a\0b', 'a\ud800b']) {
      for (const write of [
        make.putEntry(bad, null),
        make.putEntry('e', null, { ref: bad }),
        make.deleteEntry(bad, 1),
      ]) {
        await assert.rejects(store.commit([[write]]), { code: 'invalid_text' });
      }
      assert.equal(await get(store, bad), null);
      assert.deepEqual(await store.entries.list('mail', TENANT, { ref: bad, limit: 1 }), []);
      assert.equal(await store.entries.count('mail', bad), 0);
    }
  });
}

const WRITERS = 8;

/** Each writer makes a run of its own in the same group. Answers who won, whose runs alone are there. */
async function winners(store: Store, write: (writer: number) => Write): Promise<number[]> {
  const writers = Array.from({ length: WRITERS }, (_, writer) => writer);
  const results = await Promise.all(
    writers.map((writer) => store.commit([[make.create(`run-${writer}`), write(writer)]])),
  );
  const won = writers.filter((writer) => results[writer]?.[0]?.won);
  const rows = await store.runs.list(TENANT, { limit: WRITERS });
  assert.deepEqual(
    rows.map((row) => row.runId).sort(),
    won.map((writer) => `run-${writer}`),
  );
  return won;
}

function raceTests(current: CurrentStore): void {
  test('of concurrent creations of one entry exactly one wins', async () => {
    const { store } = current();
    const won = await winners(store, (writer) => make.putEntry('e', null, { body: `${writer}` }));
    assert.equal(won.length, 1);
    assert.equal((await get(store, 'e'))?.body, `${won[0]}`);
  });

  test('of concurrent puts at one version exactly one wins', async () => {
    const { store } = current();
    await win(store, make.putEntry('e', null));
    const won = await winners(store, (writer) => make.putEntry('e', 1, { body: `${writer}` }));
    assert.equal(won.length, 1);
    assert.deepEqual(await get(store, 'e'), { ...make.entry('e', { body: `${won[0]}` }), version: 2 });
  });

  test('of concurrent deletes of one entry exactly one wins', async () => {
    const { store } = current();
    await win(store, make.putEntry('e', null));
    assert.equal((await winners(store, () => make.deleteEntry('e', 1))).length, 1);
    assert.equal(await get(store, 'e'), null);
  });
}
