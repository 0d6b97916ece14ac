import assert from 'node:assert/strict';
import { readdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { openSqlite, type Store } from '@gantry/store';
import { type MasterKey, openMasterKey } from './master-key.ts';
import { readSettings, SettingsError } from './settings.ts';
import { temporaryFolder } from './testing/host-process.ts';

const now = (): number => 1_000;

async function storeIn(t: TestContext): Promise<{ store: Store; dataDir: string }> {
  const folder = await temporaryFolder();
  const store = await openSqlite({ dataDir: folder.path });
  t.after(async () => {
    await store.close();
    await folder.remove();
  });
  return { store, dataDir: folder.path };
}

test('the key file is made once, for this user only, also by two processes at once', async (t) => {
  const { store, dataDir } = await storeIn(t);
  const open = (): Promise<MasterKey> =>
    openMasterKey({ settings: { masterKey: undefined, dataDir }, store, now });
  const keys = await Promise.all([open(), open(), open()]);
  const sealed = keys[0]?.seal('text', 'a') ?? '';
  for (const key of [...keys, await open()]) assert.equal(key.open(sealed, 'a'), 'text');
  const files = (await readdir(dataDir)).filter((name) => name.startsWith('master.key'));
  assert.deepEqual(files, ['master.key']);
  assert.equal((await stat(path.join(dataDir, 'master.key'))).mode & 0o777, 0o600);
});

test('a sealed text opens in its own context only, and unchanged only', async (t) => {
  const { store, dataDir } = await storeIn(t);
  const { seal, open } = await openMasterKey({
    settings: { masterKey: 'k'.repeat(32), dataDir },
    store,
    now,
  });
  const sealed = seal('hello', 'here');
  assert.notEqual(seal('hello', 'here'), sealed);
  assert.equal(open(sealed, 'here'), 'hello');
  assert.equal(open(sealed, 'there'), null);
  const flipped = Buffer.from(sealed, 'base64url');
  flipped[flipped.length - 1]! ^= 1;
  assert.equal(open(flipped.toString('base64url'), 'here'), null);
  assert.equal(open('', 'here'), null);
  assert.ok(!Buffer.from(sealed, 'base64url').includes('hello'));
});

test('each purpose has a key of its own', async (t) => {
  const { store, dataDir } = await storeIn(t);
  const { hmac } = await openMasterKey({ settings: { masterKey: 'k'.repeat(32), dataDir }, store, now });
  assert.deepEqual(hmac('one')('text'), hmac('one')('text'));
  assert.notDeepEqual(hmac('one')('text'), hmac('two')('text'));
});

test('a database that was used with one key is refused to another', async (t) => {
  const { store, dataDir } = await storeIn(t);
  const open = (letter: string): Promise<MasterKey> =>
    openMasterKey({ settings: { masterKey: letter.repeat(32), dataDir }, store, now });
  const unused = await open('b');
  const first = await open('a');
  await first.claim();
  await first.claim();
  await assert.rejects(open('b'), /GANTRY_MASTER_KEY/);
  await assert.rejects(unused.claim(), /GANTRY_MASTER_KEY/);
  await (await open('a')).claim();
});

test('a damaged key file is not replaced', async (t) => {
  const { store, dataDir } = await storeIn(t);
  await writeFile(path.join(dataDir, 'master.key'), '');
  const opened = openMasterKey({ settings: { masterKey: undefined, dataDir }, store, now });
  await assert.rejects(opened, /damaged/);
});

test('settings: a short key and an unclear switch are refused', () => {
  assert.throws(() => readSettings([], { GANTRY_MASTER_KEY: 'short' }), SettingsError);
  assert.throws(() => readSettings([], { GANTRY_TEST_SEAMS: 'yes' }), SettingsError);
  assert.equal(readSettings([], { GANTRY_TEST_SEAMS: '1' }).testSeams, true);
  assert.equal(readSettings([], {}).testSeams, false);
});
