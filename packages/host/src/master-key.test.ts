import assert from 'node:assert/strict';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
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
  const [id = '', text = ''] = sealed.split('.');
  const flipped = Buffer.from(text, 'base64url');
  flipped[flipped.length - 1]! ^= 1;
  assert.equal(open(`${id}.${flipped.toString('base64url')}`, 'here'), null);
  assert.equal(open('', 'here'), null);
  assert.ok(!Buffer.from(text, 'base64url').includes('hello'));
});

test('each purpose has a key of its own', async (t) => {
  const { store, dataDir } = await storeIn(t);
  const { hmac } = await openMasterKey({ settings: { masterKey: 'k'.repeat(32), dataDir }, store, now });
  assert.deepEqual(hmac('one')('text'), hmac('one')('text'));
  assert.notDeepEqual(hmac('one')('text'), hmac('two')('text'));
});

test('a database that was used with one key is refused to another, which learns the ids of both', async (t) => {
  const { store, dataDir } = await storeIn(t);
  const open = (letter: string): Promise<MasterKey> =>
    openMasterKey({ settings: { masterKey: letter.repeat(32), dataDir }, store, now });
  await open('a');
  await assert.rejects(
    open('b'),
    /^Error: This database belongs to the master key with the id ([0-9a-f]{8}), last used from GANTRY_MASTER_KEY\. The key from GANTRY_MASTER_KEY has the id (?!\1)[0-9a-f]{8}\./,
  );
  await open('a');
});

test('another master key takes over at a start with both, and everything sealed and signed stays', async (t) => {
  const { store, dataDir } = await storeIn(t);
  const open = (masterKey?: string, masterKeyOld?: string): Promise<MasterKey> =>
    openMasterKey({ settings: { masterKey, masterKeyOld, dataDir }, store, now });
  const [a, b] = ['a'.repeat(32), 'b'.repeat(32)];
  const file = path.join(dataDir, 'master.key');
  const first = await open();
  const sealed = first.seal('text', 'here');
  const token = first.hmac('token')('x');
  const opens = (key: MasterKey): void => {
    assert.equal(key.open(sealed, 'here'), 'text');
    assert.deepEqual(key.hmac('token')('x'), token);
  };
  // From the file to a setting, by two processes at once
  const made = (await readFile(file, 'utf8')).trim();
  await assert.rejects(open(a), { message: new RegExp(`last used from ${file}\\.`) });
  for (const key of await Promise.all([open(a, made), open(a, made)])) opens(key);
  opens(await open(a));
  opens(first);
  assert.equal(first.open((await open(a)).seal('new', 'c'), 'c'), 'new', 'a process at work goes on');
  await assert.rejects(open(), /with the id [0-9a-f]{8}, last used from GANTRY_MASTER_KEY\./);
  opens(await open(b, a));
  opens(await open(b));
  await assert.rejects(open(a), /GANTRY_MASTER_KEY_OLD/);
  // And back to the file
  opens(await open(undefined, b));
  opens(await open());
  assert.ok((await stat(file)).isFile());
});

test('a sealed text begins with the id of its key', async (t) => {
  const { store, dataDir } = await storeIn(t);
  const key = await openMasterKey({ settings: { masterKey: 'k'.repeat(32), dataDir }, store, now });
  assert.match(key.seal('text', 'a'), /^[0-9a-f]{8}\.[\w-]+$/);
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
