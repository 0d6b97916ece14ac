import assert from 'node:assert/strict';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { databasePath } from './sqlite/open-file.ts';
import { NOW } from './testing/calls.ts';
import { freshFolder } from './testing/data-dir.ts';
import { openTestSurfaces } from './testing/surfaces.ts';
import { callGateOf, nodeOf } from './testing/test-call-gate.ts';

const KEPT_MS = 1_000;

test('a sweep deletes what expired and what no node can ask for any more, and nothing else', async (t) => {
  const folder = freshFolder();
  const opened = await openTestSurfaces(folder.path, { invocationRetentionMs: KEPT_MS });
  t.after(folder.remove);
  const world = callGateOf(opened.surfaces);
  const call = nodeOf(world);
  await call('storage.kv.put', { key: 'short', value: 1, ttlSeconds: 1 });
  await call('storage.kv.put', { key: 'long', value: 1 });
  await call('storage.cache.put', { key: 'short', value: 1, ttlSeconds: 1 });
  world.clock.now += KEPT_MS;
  await call('storage.cache.put', { key: 'long', value: 1, ttlSeconds: 60 });
  assert.equal(await opened.sweep(NOW + KEPT_MS), 2, 'the two that expired');
  assert.equal(await opened.sweep(NOW + KEPT_MS + 1), 3, 'three records that are past their time');
  await opened.close();
  const file = new DatabaseSync(databasePath(folder.path));
  const rows = (table: string) => file.prepare(`select count(*) as n from ${table}`).get()?.n;
  assert.deepEqual(['kv', 'cache', 'invocations'].map(rows), [1, 1, 1]);
  file.close();
});

test('the data is for its owner only', {
  skip: process.platform === 'win32' && 'no modes here',
}, async (t) => {
  const folder = freshFolder();
  t.after(folder.remove);
  const opened = await openTestSurfaces(folder.path, { invocationRetentionMs: KEPT_MS });
  assert.equal(existsSync(databasePath(folder.path)), false, 'nothing is made before something is kept');
  await nodeOf(callGateOf(opened.surfaces))('storage.kv.put', { key: 'a', value: 1 });
  assert.equal(statSync(databasePath(folder.path)).mode & 0o777, 0o600);
  await opened.close();
});

test('health names what cannot be read, and starts nothing to look', async (t) => {
  const folder = freshFolder();
  t.after(folder.remove);
  const path = databasePath(folder.path, 'retrieval.db');
  const clock = { now: 0 };
  const opened = await openTestSurfaces(folder.path, { now: () => clock.now });
  t.after(opened.close);
  const ill = async () =>
    (await opened.health()).filter(({ state }) => state === 'rejected').map(({ capability }) => capability);
  assert.deepEqual([await ill(), existsSync(path)], [[], false]);
  writeFileSync(path, 'no database');
  const query = { collection: 'c', embedding: [1], k: 1 };
  const asked = nodeOf(callGateOf(opened.surfaces))('db.vector.query', query);
  await assert.rejects(asked, { code: 'internal_error' });
  assert.deepEqual(await ill(), [], 'what was well a moment ago is not looked at again');
  clock.now = 5_000;
  assert.deepEqual(await ill(), ['vectorStore', 'searchIndex']);
});
