import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { openSqlite, type Store } from '@gantry/store';
import { freshFolder } from '../../store/src/testing/data-dir.ts';
import { ensureAdminKey } from './admin-key.ts';
import { hashSecret } from './key-secret.ts';

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

const created = async (store: Store, more: { adminKey?: string } = {}): Promise<string | undefined> =>
  (await ensureAdminKey(store, { ...options, ...more })).created;

const keyOf = (store: Store, secret: string) => store.records.keyByHash(hashSecret(secret));

test('the first start makes a key, later ones make none', async (t) => {
  const store = await emptyStore(t);
  const first = await ensureAdminKey(store, options);
  assert.ok(first.created);
  await first.shown();
  assert.deepEqual((await keyOf(store, first.created))?.tenant, 'default');
  assert.equal(await created(store), undefined);
});

test('a key that was never shown is followed by another', async (t) => {
  const store = await emptyStore(t);
  const lost = await created(store);
  const next = await ensureAdminKey(store, options);
  assert.ok(lost && next.created && next.created !== lost);
  await next.shown();
  assert.equal(await created(store), undefined);
  assert.equal((await keyOf(store, lost))?.revokedAt, null, 'another process may be about to show it');
  await ensureAdminKey(store, { ...options, now: () => 100_000 });
  assert.equal((await keyOf(store, lost))?.revokedAt, 100_000);
});

test('a given key works while it is given, and another value replaces it', async (t) => {
  const store = await emptyStore(t);
  assert.equal(await created(store, { adminKey: 'first' }), undefined);
  assert.ok((await keyOf(store, 'first'))?.scopes.includes('host:admin'));
  await ensureAdminKey(store, { ...options, adminKey: 'second' });
  assert.equal(await keyOf(store, 'first'), null);
  assert.equal((await keyOf(store, 'second'))?.revokedAt, null);
  assert.ok(await created(store));
  assert.equal((await keyOf(store, 'second'))?.revokedAt, 1_000);
  await ensureAdminKey(store, { ...options, adminKey: 'second' });
  assert.equal((await keyOf(store, 'second'))?.revokedAt, null);
});

test('a stored key with fewer rights is never made an admin key', async (t) => {
  const store = await emptyStore(t);
  await ensureAdminKey(store, options);
  const [key] = await store.records.keys('default');
  const reader = { ...key!, keyId: 'key_reader', hash: hashSecret('reader'), scopes: ['runs:read'] };
  await store.commit([[{ kind: 'putKey', record: reader }]]);
  await assert.rejects(
    created(store, { adminKey: 'reader' }),
    /GANTRY_ADMIN_KEY is the secret of key_reader/,
  );
  assert.deepEqual((await keyOf(store, 'reader'))?.scopes, ['runs:read']);
});

test('an operator whose admin keys are all revoked gets a new one', async (t) => {
  const store = await emptyStore(t);
  await (await ensureAdminKey(store, options)).shown();
  const [key] = await store.records.keys('default');
  await store.commit([[{ kind: 'putKey', record: { ...key!, revokedAt: 1 } }]]);
  assert.ok(await created(store));
});

test('an admin key of an older version gets the scopes of this one', async (t) => {
  const store = await emptyStore(t);
  await (await ensureAdminKey(store, options)).shown();
  const [key] = await store.records.keys('default');
  await store.commit([[{ kind: 'putKey', record: { ...key!, scopes: ['host:admin'] } }]]);
  assert.equal(await created(store), undefined);
  const [upgraded] = await store.records.keys('default');
  assert.deepEqual(upgraded?.scopes, key?.scopes);
});
