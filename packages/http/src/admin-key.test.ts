import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { openSqlite, type Store } from '@gantry/store';
import { freshFolder } from '../../store/src/testing/data-dir.ts';
import { ensureAdminKey } from './admin-key.ts';
import { hashSecret } from './auth.ts';

const options = { now: () => 1_000, randomBytes };

async function emptyStore(t: TestContext): Promise<Store> {
  const folder = freshFolder();
  const store = await openSqlite({ dataDir: folder.path });
  t.after(async () => {
    await store.close();
    await folder.remove();
  });
  return store;
}

test('the first start makes a key, later ones make none', async (t) => {
  const store = await emptyStore(t);
  const { created } = await ensureAdminKey(store, options);
  assert.ok(created);
  assert.deepEqual((await store.records.keyByHash(hashSecret(created)))?.tenant, 'default');
  assert.deepEqual(await ensureAdminKey(store, options), {});
});

test('a given key exists afterwards, and another value replaces it', async (t) => {
  const store = await emptyStore(t);
  assert.deepEqual(await ensureAdminKey(store, { ...options, apiKey: 'first' }), {});
  assert.ok((await store.records.keyByHash(hashSecret('first')))?.scopes.includes('host:admin'));
  await ensureAdminKey(store, { ...options, apiKey: 'second' });
  assert.equal(await store.records.keyByHash(hashSecret('first')), null);
  assert.ok(await store.records.keyByHash(hashSecret('second')));
});

test('an operator whose admin keys are all revoked gets a new one', async (t) => {
  const store = await emptyStore(t);
  await ensureAdminKey(store, options);
  const [key] = await store.records.keys('default');
  await store.commit([[{ kind: 'putKey', record: { ...key!, revokedAt: 1 } }]]);
  assert.ok((await ensureAdminKey(store, options)).created);
});

test('an admin key of an older version gets the scopes of this one', async (t) => {
  const store = await emptyStore(t);
  await ensureAdminKey(store, options);
  const [key] = await store.records.keys('default');
  await store.commit([[{ kind: 'putKey', record: { ...key!, scopes: ['host:admin'] } }]]);
  assert.deepEqual(await ensureAdminKey(store, options), {});
  const [upgraded] = await store.records.keys('default');
  assert.deepEqual(upgraded?.scopes, key?.scopes);
});
