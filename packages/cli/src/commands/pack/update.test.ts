import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { TestPack } from '../../../../host/src/packs/testing/pack-archive.ts';
import { registryFolder } from '../../../../host/src/packs/testing/registry-folder.ts';
import { realHost } from '../../testing/real-host.ts';
import { workspace } from './testing/workspace.ts';

const CRM = 'vendor.acme.crm';
const MAIL = 'vendor.acme.mail';

const pack = (name: string, version: string, ...requires: string[]): TestPack => ({
  name,
  version,
  requires,
  nodes: { [`${name}.work`]: { body: 'return {};' } },
});

/** Both packs are locked and installed as 1.0.0; then newer ones are published. */
async function sales(t: TestContext) {
  const registry = await registryFolder(t);
  await registry.publish(pack(MAIL, '1.0.0', 'net.outbound'));
  await registry.publish(pack(CRM, '1.0.0'));
  const plain = await registryFolder(t);
  const { client } = await realHost(t, [], { settings: { registries: [registry.path, plain.path] } });
  const here = await workspace(t, { GANTRY_URL: client.baseUrl, GANTRY_REGISTRY_URL: registry.path });
  await here.workflow('sales', { [CRM]: { version: '^1.0.0' }, [MAIL]: { version: '^1.0.0' } });
  await here.pack('lock');
  const { code, err } = await here.pack('install', '--grant', `${MAIL}=net.outbound`);
  assert.equal(code, 0, err);
  await registry.publish(pack(CRM, '1.1.0'));
  await registry.publish(pack(MAIL, '1.2.0', 'net.dns'));
  await registry.publish(pack(MAIL, '2.0.0'));
  const serving = async (name: string) => (await client.packs.get(name)).versions[0]?.version;
  return { registry, plain, client, serving, ...here };
}

test('outdated tells what is current, wanted and latest, and what to know of it', async (t) => {
  const { registry, pack: run } = await sales(t);
  await registry.publish(pack(CRM, '1.0.0'), { served: { yanked: { reason: 'It leaks.' } } });
  await registry.advise([
    {
      id: 'OPENWOP-2026-0001',
      publishedAt: '2026-05-02T00:00:00Z',
      severity: 'high',
      summary: 'Bad.',
      affected: [{ packName: MAIL, versions: '<1.1.0', fixedIn: '1.1.0' }],
    },
  ]);
  const { out, code } = await run('outdated');
  assert.equal(code, 0);
  assert.match(out, /^PACK +CURRENT +WANTED +LATEST +MARKS$/m);
  assert.match(out, /^vendor\.acme\.crm +1\.0\.0 +1\.1\.0 +1\.1\.0 +yanked: It leaks\.$/m);
  assert.match(
    out,
    /^vendor\.acme\.mail +1\.0\.0 +1\.2\.0 +2\.0\.0 +OPENWOP-2026-0001 \(high\), fixed in 1\.1\.0; asks for more: net\.dns$/m,
  );
  assert.match(out, /gantry pack update\n$/);
});

test('an update shows versions and permissions first, and without a yes changes nothing', async (t) => {
  const { pack: run, typing, lockText, serving } = await sales(t);
  const before = await lockText();
  const silent = await run('update');
  assert.equal(silent.code, 2);
  assert.match(
    silent.out,
    /^~ vendor\.acme\.crm 1\.0\.0 → 1\.1\.0\n~ vendor\.acme\.mail 1\.0\.0 → 1\.2\.0\n/,
  );
  assert.match(silent.out, /^ {4}\+ net\.dns {2}Look up host names/m);
  assert.match(silent.out, /^ {4}- net\.outbound {2}Send requests/m);
  assert.match(silent.err, /Nothing was changed.*--yes/);
  assert.equal((await typing(['n'], 'update')).code, 2);
  const ungranted = await run('update', '--yes');
  assert.match(ungranted.err, /--grant vendor\.acme\.mail=net\.dns/);
  assert.equal(await lockText(), before);
  assert.equal(await serving(MAIL), '1.0.0');

  const yes = await typing(['y', 'y'], 'update');
  assert.equal(yes.code, 0, yes.err);
  assert.match(yes.out, /pack-lock\.json is written\n$/);
  assert.deepEqual([await serving(CRM), await serving(MAIL)], ['1.1.0', '1.2.0']);
  assert.equal((await run('lock', '--check')).code, 0);
  assert.equal((await run('update')).out, 'Everything is up to date.\n');
});

test('only what is named moves', async (t) => {
  const { pack: run, locked, serving } = await sales(t);
  const slip = await run('update', 'vendor.acme.cmr');
  assert.match(slip.err, /vendor\.acme\.cmr is not among the packs.*Did you mean vendor\.acme\.crm\?/);
  const { code, err } = await run('update', CRM, '--yes');
  assert.equal(code, 0, err);
  assert.deepEqual(await locked(), { [CRM]: '1.1.0', [MAIL]: '1.0.0' });
  assert.deepEqual([await serving(CRM), await serving(MAIL)], ['1.1.0', '1.0.0']);
});

test('without a lockfile the host says what is in use; what no registry knows stays', async (t) => {
  const { client, registry, plain, serving } = await sales(t);
  const here = await workspace(t, { GANTRY_URL: client.baseUrl, GANTRY_REGISTRY_URL: registry.path });
  await plain.publish(pack('vendor.acme.own', '1.0.0'));
  await here.pack('install', 'vendor.acme.own', '--registry', plain.path);
  const { out, err } = await here.pack('outdated');
  assert.match(out, /^vendor\.acme\.mail +1\.0\.0 +1\.2\.0 +2\.0\.0 /m);
  assert.match(err, /No registry here knows: vendor\.acme\.own/);
  const updated = await here.pack('update', '--yes', '--json', '--grant', `${MAIL}=net.dns`);
  assert.equal(updated.code, 0, updated.err);
  const { installed } = JSON.parse(updated.out);
  assert.deepEqual(installed.map(({ version }: { version: string }) => version).sort(), ['1.1.0', '1.2.0']);
  assert.equal(await serving('vendor.acme.own'), '1.0.0');
  await assert.rejects(here.lockText(), /ENOENT/);
});
