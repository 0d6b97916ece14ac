import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { TestPack } from '../../../../host/src/packs/testing/pack-archive.ts';
import { registryFolder } from '../../../../host/src/packs/testing/registry-folder.ts';
import { realHost } from '../../testing/real-host.ts';
import { edit } from './testing/pack-folder.ts';
import { workspace } from './testing/workspace.ts';

const CRM = 'vendor.acme.crm';
const MAIL = 'vendor.acme.mail';

const pack = (name: string, version: string, more: Partial<TestPack> = {}): TestPack => ({
  name,
  version,
  nodes: { [`${name}.work`]: { body: 'return {};' } },
  ...more,
});

/** `crm` 1.0.0 needs `mail` ^1, which is there as 1.0.0 and asks for the network. */
async function sales(t: TestContext) {
  const registry = await registryFolder(t);
  await registry.publish(pack(MAIL, '1.0.0', { requires: ['net.outbound'] }));
  await registry.publish(pack(CRM, '1.0.0', { manifest: { dependencies: { [MAIL]: '^1.0.0' } } }));
  const { client } = await realHost(t, [], { settings: { registries: [registry.path] } });
  const here = await workspace(t, { GANTRY_URL: client.baseUrl });
  await here.workflow('sales', { [CRM]: { version: '^1.0.0' } });
  const installed = async () =>
    (await client.packs.list()).map(({ name, version }) => `${name}@${version}`).sort();
  return { registry, client, installed, ...here };
}

const GRANT = ['--grant', `${MAIL}=net.outbound`];

test('the lockfile is installed whole, dependencies first, and again it changes nothing', async (t) => {
  const { registry, pack: run, client, installed } = await sales(t);
  await run('lock', '--registry', registry.path);
  await registry.publish(pack(MAIL, '1.1.0', { requires: ['net.outbound'] }));
  const silent = await run('install');
  assert.equal(silent.code, 2);
  assert.match(silent.out, /vendor\.acme\.mail@1\.0\.0 asks for permission:\n\+ net\.outbound/);
  assert.match(
    silent.err,
    /Nothing was installed\. To grant it, add: --grant vendor\.acme\.mail=net\.outbound/,
  );
  assert.deepEqual(await installed(), []);

  const { code, out, err } = await run('install', ...GRANT);
  assert.equal(code, 0, err);
  assert.match(
    err,
    /^vendor\.acme\.mail@1\.0\.0 {2}signed by acme-1 \(manifest\)\n[\s\S]*vendor\.acme\.crm@1\.0\.0 {2}signed/,
  );
  assert.match(out, /^vendor\.acme\.mail@1\.0\.0 is installed: .*\nvendor\.acme\.crm@1\.0\.0 is installed: /);
  assert.deepEqual((await client.packs.get(MAIL)).grants[0]?.requires, ['net.outbound']);
  assert.deepEqual((await client.packs.get(CRM)).grants, [], 'a grant is for the pack it names');
  const again = await run('install', ...GRANT);
  assert.equal(again.out, `${MAIL}@1.0.0 is already installed\n${CRM}@1.0.0 is already installed\n`);
});

test('on a terminal one yes is for all that is asked; a grant without its pack is refused', async (t) => {
  const { registry, pack: run, typing, installed } = await sales(t);
  await run('lock', '--registry', registry.path);
  assert.match(
    (await run('install', '--grant', 'net.outbound')).err,
    /Say which pack gets it: --grant NAME=/,
  );
  const stray = await run('install', '--grant', 'vendor.acme.other=crypto');
  assert.match(stray.err, /vendor\.acme\.other, which is not among the packs to install/);
  assert.equal((await typing(['n'], 'install')).code, 2);
  assert.deepEqual(await installed(), []);
  const yes = await typing(['y'], 'install');
  assert.equal(yes.code, 0, yes.err);
  assert.equal((await installed()).length, 2);
});

test('frozen means frozen: a new wish and other bytes are refused', async (t) => {
  const { registry, pack: run, workflow, installed } = await sales(t);
  await run('lock', '--registry', registry.path);
  await workflow('news', { 'vendor.acme.news': {} });
  assert.match(
    (await run('install')).err,
    /workflow news asks for vendor\.acme\.news, which the lockfile does not list/,
  );
  await workflow('news', {});
  await registry.publish(pack(CRM, '1.0.0', { files: { 'more.json': {} } }));
  const other = await run('install', ...GRANT);
  assert.equal(other.code, 2);
  assert.match(
    other.err,
    /The archive of vendor\.acme\.crm@1\.0\.0 is sha256-\S+, the lockfile says sha256-/,
  );
  assert.deepEqual(await installed(), [], 'nothing is handed over before all is proved');
});

test('a pack is installed by its name; the pins of the lockfile beat ranges', async (t) => {
  const { registry, pack: run, installed } = await sales(t);
  await run('lock', '--registry', registry.path);
  await registry.publish(pack(MAIL, '1.1.0'));
  await registry.publish(pack('vendor.acme.desk', '1.0.0', { manifest: { dependencies: { [MAIL]: '*' } } }));
  const pinned = await run('install', `${MAIL}@^1.0.0`, '--grant', 'net.outbound');
  assert.equal(pinned.code, 0, pinned.err);
  assert.match(pinned.out, /vendor\.acme\.mail@1\.0\.0 is installed/);
  const excluded = await run('install', `${MAIL}@1.1.0`);
  assert.match(excluded.out, /vendor\.acme\.mail@1\.0\.0 is already installed/);
  assert.match(
    excluded.err,
    /pins vendor\.acme\.mail to 1\.0\.0, so 1\.1\.0 was ignored\. To move the pin: /,
  );
  assert.doesNotMatch(pinned.err, /pins/);
  const unlisted = await run('install', 'vendor.acme.desk');
  assert.equal(unlisted.code, 0, unlisted.err);
  assert.match(unlisted.out, /vendor\.acme\.mail@1\.0\.0 is already installed/);
  assert.deepEqual(await installed(), ['vendor.acme.desk@1.0.0', `${MAIL}@1.0.0`]);
});

test('without a lockfile the highest version of the range comes; what came later is told', async (t) => {
  const { registry, pack: run, installed } = await sales(t);
  await registry.publish(pack(MAIL, '1.1.0'));
  await registry.publish(pack(MAIL, '2.0.0'));
  const from = ['--registry', registry.path];
  assert.equal((await run('install', `${MAIL}@^1.0.0`, ...from)).code, 0);
  assert.equal((await run('install', MAIL, ...from)).code, 0);
  assert.deepEqual(await installed(), [`${MAIL}@1.1.0`, `${MAIL}@2.0.0`]);
  const { out } = await run('install', `${MAIL}@1.1.0`, ...from);
  assert.match(
    out,
    /new runs use 2\.0\.0, which was installed later\. To change that: gantry pack rm vendor\.acme\.mail 2\.0\.0/,
  );
  const none = await run('install', `${MAIL}@^9`, ...from);
  assert.match(none.err, /Available: 2\.0\.0, 1\.1\.0, 1\.0\.0\. Ask for one of these/);
});

test('what no key of the registry signed needs a word of its own; what is signed wrongly has none', async (t) => {
  const { registry, pack: run } = await sales(t);
  await registry.publish(pack('vendor.acme.plain', '1.0.0'), { by: null });
  const from = ['--registry', registry.path];
  const refused = await run('install', 'vendor.acme.plain', ...from);
  assert.equal(refused.code, 2);
  assert.match(refused.err, /it is not signed\..*add --unverified/);
  const taken = await run('install', 'vendor.acme.plain', '--unverified', ...from);
  assert.equal(taken.code, 0, taken.err);
  assert.match(taken.err, /vendor\.acme\.plain@1\.0\.0: it is not signed/);
  await edit(`${registry.path}/keys/acme-1.pub`, () => WRONG_KEY);
  const wrong = await run('install', CRM, '--unverified', ...from);
  assert.match(wrong.err, /The signature does not verify with the key acme-1/);
});

const WRONG_KEY =
  '-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAos4pkfgHfCVKL734pAmbKZx/adXGYovhu2cWO3Max0w=\n-----END PUBLIC KEY-----\n';

test('without a registry here the host asks its own, and what it wants granted is asked for', async (t) => {
  const registry = await registryFolder(t);
  await registry.publish(pack(MAIL, '1.0.0', { requires: ['net.outbound'] }));
  const { client } = await realHost(t, [], { settings: { registries: [registry.path] } });
  const here = await workspace(t, { GANTRY_URL: client.baseUrl });
  const silent = await here.pack('install', `${MAIL}@^1`);
  assert.equal(silent.code, 2);
  assert.match(silent.out, /vendor\.acme\.mail@1\.0\.0 asks for permission:\n\+ net\.outbound {2}Send/);
  assert.match(silent.err, /add: --grant net\.outbound\n/);
  const yes = await here.typing(['y'], 'install', `${MAIL}@^1`);
  assert.equal(yes.code, 0, yes.err);
  assert.deepEqual(
    (await client.packs.list()).map(({ trust }) => trust),
    ['signed'],
  );
  assert.equal((await here.pack('install', MAIL)).code, 0, 'what is granted stays granted');
});

test('where nothing is to be found is said', async (t) => {
  const here = await workspace(t);
  assert.match((await here.pack('install')).err, /There is no pack-lock\.json here.*gantry pack lock/);
  assert.match((await here.pack('install', 'nowhere')).err, /There is no nowhere\. Name a pack folder/);
  const { client } = await realHost(t, []);
  const there = await workspace(t, { GANTRY_URL: client.baseUrl });
  const gone = await there.pack('install', CRM, '--registry', 'nowhere');
  assert.equal(gone.code, 2);
  assert.match(gone.err, /does not install from \S+nowhere\. Its registries: none\..*GANTRY_REGISTRY_URL/);
  assert.match(
    (await there.pack('install', CRM)).err,
    /this host has none\. Name one with GANTRY_REGISTRY_URL/,
  );
});
