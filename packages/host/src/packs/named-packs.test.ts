import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { type TestContext, test } from 'node:test';
import type { JsonObject } from '@gantry/protocol';
import { createHost } from '../host.ts';
import { readSettings, type Settings, SettingsError } from '../settings.ts';
import { node, workflow } from '../testing/definitions.ts';
import { TEST_KEY, temporaryFolder } from '../testing/host-process.ts';
import { testHost } from '../testing/test-host.ts';
import type { TestPack } from './testing/pack-archive.ts';
import { PACKS_URL, type PackTest, packTest } from './testing/pack-test.ts';
import { registryFolder } from './testing/registry-folder.ts';
import { acme, publisher } from './testing/signed-archive.ts';
import { trustFile } from './testing/trust-test.ts';

const CRM = 'vendor.acme.crm';
const MAIL = 'vendor.acme.mail';

const pack = (name: string, version: string, more: Partial<TestPack> = {}): TestPack => ({
  name,
  version,
  nodes: { [`${name}.work`]: { body: `return { version: '${version}' };` } },
  ...more,
});
const needs = (dependencies: JsonObject): Partial<TestPack> => ({ manifest: { dependencies } });

const installed = async (api: PackTest): Promise<string[]> => named((await api.get(PACKS_URL)).json().packs);

const refuses = (t: TestContext, settings: object, message: RegExp) =>
  assert.rejects(testHost(t, { settings }), (error) => {
    assert.ok(error instanceof SettingsError, String(error));
    assert.match(error.message, message);
    return true;
  });

/** Folders that outlive the hosts on them. */
async function dataFolder(t: TestContext): Promise<Pick<Settings, 'dataDir' | 'workflowsDir'>> {
  const { path, remove } = await temporaryFolder();
  t.after(remove);
  return { dataDir: `${path}/data`, workflowsDir: `${path}/workflows` };
}

/** What tenants have of packs after one more start on the same data. */
async function startedOnce(settings: Partial<Settings>): Promise<JsonObject[]> {
  const env = { GANTRY_ADMIN_KEY: TEST_KEY, GANTRY_LOG: 'silent' };
  const host = await createHost({ settings: { ...readSettings([], env), ...settings } });
  try {
    const headers = { authorization: `Bearer ${TEST_KEY}` };
    return (await host.app.inject({ url: PACKS_URL, headers })).json().packs;
  } finally {
    await host.stop();
  }
}

const named = (packs: readonly JsonObject[]): string[] =>
  packs.map(({ name, version }) => `${name}@${version}`).sort();

test('a name with a range is resolved with all it needs, for every tenant', async (t) => {
  const registry = await registryFolder(t);
  await registry.publish(pack(CRM, '1.2.0', needs({ [MAIL]: '^2.0.0' })));
  await registry.publish(pack(CRM, '2.0.0'));
  await registry.publish(pack(MAIL, '2.0.0'));
  await registry.publish(pack(MAIL, '2.1.0'));
  const api = await packTest(t, { settings: { packs: [`${CRM}@^1.2`], registries: [registry.path] } });
  const { packs } = (await api.get(PACKS_URL)).json();
  assert.deepEqual(
    packs
      .map(({ name, version, shared, trust, signedBy }: JsonObject) => [
        name,
        version,
        shared,
        trust,
        signedBy,
      ])
      .sort(),
    [
      [CRM, '1.2.0', true, 'signed', acme.key.keyId],
      [MAIL, '2.1.0', true, 'signed', acme.key.keyId],
    ],
  );
  await api.registered(workflow('work', [node('a', `${MAIL}.work`)]));
  assert.deepEqual((await api.ended(await api.start('work'))).outputs, { version: '2.1.0' });
});

test('a start needs no registry once everything is there, and upgrades nothing', async (t) => {
  const registry = await registryFolder(t);
  await registry.publish(pack(CRM, '1.0.0'));
  const settings = { packs: [CRM], registries: [registry.path], ...(await dataFolder(t)) };
  assert.deepEqual(named(await startedOnce(settings)), [`${CRM}@1.0.0`]);
  await registry.publish(pack(CRM, '1.1.0'));
  assert.deepEqual(named(await startedOnce(settings)), [`${CRM}@1.0.0`]);
  await registry.close();
  assert.deepEqual(named(await startedOnce(settings)), [`${CRM}@1.0.0`]);
  await assert.rejects(startedOnce({ ...settings, packs: [`${CRM}@^1.1`] }), SettingsError);
});

test('the list of the settings is what is shared: other versions and other packs leave', async (t) => {
  const registry = await registryFolder(t);
  for (const version of ['1.0.0', '1.1.0']) await registry.publish(pack(CRM, version));
  await registry.publish(pack(MAIL, '1.0.0'));
  const settings = { registries: [registry.path], ...(await dataFolder(t)) };
  const after = async (packs: readonly string[]) => named(await startedOnce({ ...settings, packs }));
  assert.deepEqual(await after([CRM, MAIL]), [`${CRM}@1.1.0`, `${MAIL}@1.0.0`]);
  assert.deepEqual(await after([`${CRM}@~1.0.0`]), [`${CRM}@1.0.0`]);
  assert.deepEqual(await after([CRM]), [`${CRM}@1.1.0`]);
  assert.deepEqual(await after([]), []);
});

test('a pack that asks for what nobody granted is left out with those that need it', async (t) => {
  const registry = await registryFolder(t);
  await registry.publish(pack(CRM, '1.0.0', needs({ [MAIL]: '*' })));
  await registry.publish(pack(MAIL, '1.0.0', { requires: ['net.outbound'] }));
  await registry.publish(pack('vendor.acme.plain', '1.0.0'));
  const packs = [CRM, 'vendor.acme.plain'];
  const settings = { packs, registries: [registry.path], ...(await dataFolder(t)) };
  assert.deepEqual(named(await startedOnce(settings)), ['vendor.acme.plain@1.0.0']);
  const granting = async (grants: JsonObject) => {
    const file = await trustFile(t, { policy: { mode: 'verified' }, keys: [acme.key], grants });
    const found = await startedOnce({ ...settings, trustFile: file });
    assert.equal(found.length, 3);
    return found.find(({ name }) => name === MAIL)?.granted;
  };
  assert.deepEqual(await granting({ [MAIL]: ['net.outbound'] }), ['net.outbound']);
  await registry.close();
  assert.deepEqual(await granting({ [MAIL]: [] }), [], 'taken back by the file, also offline');
});

test('a version that asks for more is left out, and the one before goes on serving', async (t) => {
  const registry = await registryFolder(t);
  await registry.publish(pack(CRM, '1.0.0'));
  const settings = { registries: [registry.path], ...(await dataFolder(t)) };
  await startedOnce({ ...settings, packs: [CRM] });
  await registry.publish(pack(CRM, '1.1.0', { requires: ['crypto'] }));
  const found = await startedOnce({ ...settings, packs: [`${CRM}@^1.0.0`] });
  assert.deepEqual(named(found), [`${CRM}@1.0.0`]);
});

test('what a registry sends must be proved, unless the trust file says otherwise', async (t) => {
  const stranger = publisher('stranger', ['vendor.acme.*']);
  const registry = await registryFolder(t);
  await registry.publish(pack(CRM, '1.0.0'), { by: null });
  await registry.publish(pack(MAIL, '1.0.0'), { by: stranger });
  const registries = [registry.path];
  await refuses(t, { packs: [CRM], registries }, /not signed/);
  await refuses(t, { packs: [MAIL], registries }, /stranger/);
  const perRegistry = [{ url: registry.path, policy: { mode: 'open' } }];
  const open = await trustFile(t, { policy: { mode: 'verified' }, registries: perRegistry });
  const api = await packTest(t, { settings: { packs: [CRM], registries, trustFile: open } });
  assert.deepEqual(await installed(api), [`${CRM}@1.0.0`]);
  const own = [{ url: registry.path, keys: [stranger.key] }];
  const keyed = await trustFile(t, { policy: { mode: 'verified' }, registries: own });
  const other = await packTest(t, { settings: { packs: [MAIL], registries, trustFile: keyed } });
  assert.deepEqual(await installed(other), [`${MAIL}@1.0.0`]);
});

test('ranges never choose what is withdrawn; exactly it comes with a warning', async (t) => {
  const registry = await registryFolder(t);
  await registry.publish(pack(CRM, '1.0.0'));
  await registry.publish(pack(CRM, '1.1.0'), { served: { yanked: true, yankedReason: 'loses mail' } });
  const registries = [registry.path];
  const ranged = await packTest(t, { settings: { packs: [`${CRM}@^1.0.0`], registries } });
  assert.deepEqual(await installed(ranged), [`${CRM}@1.0.0`]);
  const exact = await packTest(t, { settings: { packs: [`${CRM}@1.1.0`], registries } });
  const [chosen] = (await exact.get(PACKS_URL)).json().packs;
  assert.match(chosen.warnings.join(' '), /yanked: loses mail/);
  const affected = [{ packName: CRM, versions: '<=1.0.0', fixedIn: '1.0.1' }];
  await registry.advise([
    { id: 'OPENWOP-2026-0001', publishedAt: '2026-05-02', severity: 'high', summary: 'Leaks.', affected },
  ]);
  await refuses(t, { packs: [`${CRM}@^1.0.0`], registries }, /OPENWOP-2026-0001/);
});

test('registries are asked in order, and names without one say what to do', async (t) => {
  const [first, second] = [await registryFolder(t), await registryFolder(t)];
  await first.publish(pack(CRM, '1.0.0'));
  await second.publish(pack(MAIL, '1.0.0'));
  const api = await packTest(t, { settings: { packs: [CRM, MAIL], registries: [first.path, second.path] } });
  assert.deepEqual(await installed(api), [`${CRM}@1.0.0`, `${MAIL}@1.0.0`]);
  await refuses(t, { packs: [CRM] }, /GANTRY_REGISTRY_URL/);
  await refuses(t, { packs: ['vendor.acme.gone'], registries: [first.path] }, /vendor\.acme\.gone/);
});

test('a lockfile is followed to the byte', async (t) => {
  const registry = await registryFolder(t);
  const integrity = await registry.publish(pack(CRM, '1.0.0'));
  await registry.publish(pack(CRM, '1.1.0'));
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const packLock = `${folder.path}/pack-lock.json`;
  const locking = (entry: JsonObject) =>
    writeFile(
      packLock,
      JSON.stringify({
        lockfileVersion: 1,
        generatedAt: '2026-05-01T00:00:00Z',
        registry: `file://${registry.path}`,
        packs: [entry],
      }),
    );
  const settings = { packs: [CRM], registries: [registry.path], packLock };
  await locking({ name: CRM, version: '1.0.0', integrity: `sha256-${'A'.repeat(43)}=` });
  await refuses(t, settings, /the lockfile says sha256-AAA/);
  await locking({ name: CRM, version: '1.0.0', integrity });
  await refuses(t, { ...settings, packs: [CRM, MAIL] }, /vendor\.acme\.mail.*lockfile/i);
  // A pin counts against every range
  const kept = { ...settings, packs: [`${CRM}@^2`], ...(await dataFolder(t)) };
  assert.deepEqual(named(await startedOnce(kept)), [`${CRM}@1.0.0`]);
  await registry.close();
  assert.deepEqual(named(await startedOnce(kept)), [`${CRM}@1.0.0`], 'offline, when all of it is there');
});
