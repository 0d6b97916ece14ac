import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError } from '../api/testing/api-test.ts';
import { readSettings, SettingsError } from '../settings.ts';
import { node, workflow } from '../testing/definitions.ts';
import { SHARED } from '../workflows/shared.ts';
import { PACK_NAME, packArchive, type TestPack } from './testing/pack-archive.ts';
import { PACKS_URL, type PackTest, packTest } from './testing/pack-test.ts';
import { registryFolder } from './testing/registry-folder.ts';
import { acme, publisher, signedArchive } from './testing/signed-archive.ts';
import { trustFile, trusting } from './testing/trust-test.ts';

const WORK = 'vendor.acme.work';
const pack = (more: Partial<TestPack> = {}): TestPack => ({
  requires: ['crypto'],
  nodes: { [WORK]: { body: 'return {};' } },
  ...more,
});
const storing = (body: string, more: Partial<TestPack> = {}): TestPack => ({
  nodes: { [WORK]: { body, role: 'side-effect' } },
  ...more,
});
const removed = (api: PackTest) => api.request({ method: 'DELETE', url: `${PACKS_URL}/${PACK_NAME}` });
const single = workflow('single', [node('a', WORK)]);
const UNMET = 'pack_runtime_requirement_unmet';

test('grants end with uninstall, and belong to the signer or to the archive', async (t) => {
  const heir = publisher('acme-2', ['vendor.acme.*']);
  const api = await trusting(t, { policy: { mode: 'open' }, keys: [acme.key, heir.key] });
  const signed = async (version: string, by = acme) => (await signedArchive(pack({ version }), by)).bytes;
  const first = await signed('1.0.0');
  assert.equal((await api.upload(first, '?grant=crypto')).statusCode, 201);
  assert.equal((await api.upload(await signed('1.1.0'))).statusCode, 201, 'the same signer keeps it');
  assertError(await api.upload(await signed('1.2.0', heir)), 400, UNMET);
  await removed(api);
  assertError(await api.upload(await signed('1.1.0')), 400, UNMET);
  await removed(api);
  const unsigned = async (version: string) =>
    (await packArchive(pack({ name: 'vendor.acme.plain', version }))).bytes;
  assert.equal((await api.upload(await unsigned('1.0.0'), '?grant=crypto')).statusCode, 201);
  assertError(await api.upload(await unsigned('1.1.0')), 400, UNMET);
});

test('no tenant gives itself env.read, nor takes it over by the name of a pack', async (t) => {
  const registry = await registryFolder(t);
  const body = 'return { region: process.env.CRM_REGION ?? "none", key: process.env.OTHER ?? "none" };';
  const reader = pack({ requires: ['env.read'], nodes: { [WORK]: { body } } });
  await registry.publish(reader);
  const env = {
    CRM_REGION: 'eu',
    OTHER: 'secret',
    GANTRY_PACK_ENV: `${PACK_NAME}:CRM_REGION,vendor.other:OTHER`,
  };
  const { packEnvironment } = readSettings([], env);
  const trust = await trustFile(t, { policy: { mode: 'verified' }, keys: [acme.key] });
  const api = await packTest(t, {
    settings: { registries: [registry.path], packs: [PACK_NAME], trustFile: trust, packEnvironment },
  });
  await api.registered(single);
  const { outputs } = await api.ended(await api.start('single'));
  assert.deepEqual(outputs, { region: 'eu', key: 'none' });
  const mine = await signedArchive({ ...reader, version: '9.0.0', files: { 'mine.json': {} } });
  assertError(await api.upload(mine.bytes, '?grant=env.read'), 400, UNMET);
  const grants = `${PACKS_URL}/${PACK_NAME}/grants`;
  assertError(await api.post(grants, { requires: ['env.read'] }), 400, 'validation_error');
  assert.throws(() => readSettings([], { GANTRY_PACK_ENV: 'CRM_REGION' }), SettingsError);
});

test('an install names permissions that can be granted, and no others', async (t) => {
  const registry = await registryFolder(t);
  await registry.publish(pack());
  const trust = await trustFile(t, { policy: { mode: 'open' }, keys: [acme.key] });
  const api = await packTest(t, { settings: { registries: [registry.path], trustFile: trust } });
  const named = (grant: string[]) => api.post(PACKS_URL, { name: PACK_NAME, grant });
  const planned = (grant: string[]) =>
    api.post(PACKS_URL, { packs: [{ name: PACK_NAME }], grants: { [PACK_NAME]: grant } });
  const misspelled = await named(['crypto', 'net.outbuond']);
  assertError(misspelled, 400, 'validation_error');
  assert.equal(misspelled.json().message, '"net.outbuond" cannot be granted. Did you mean net.outbound?');
  assertError(await planned(['crypto', 'subprocess']), 400, 'validation_error');
  const { bytes } = await packArchive(pack({ name: 'vendor.acme.plain' }));
  assertError(await api.upload(bytes, '?grant=crypto,host.kvStorge'), 400, 'validation_error');
  assert.equal((await planned(['crypto'])).statusCode, 201);
  assertError(await named(['net.outbuond']), 400, 'validation_error');
  const detail = await api.request({ method: 'GET', url: `${PACKS_URL}/${PACK_NAME}` });
  assert.deepEqual(detail.json().versions[0].granted, ['crypto']);
});

test('what code calls and no manifest names is asked for, and held to', async (t) => {
  const api = await packTest(t);
  const open = storing(
    'const { storage: { kv } } = ctx; await kv.put({ key: "a", value: 1 }); await ctx["db"][ctx.inputs.x ?? "nosql"].insert({ collection: "c", document: {} }); return {};',
  );
  const { bytes } = await packArchive(open);
  const refused = await api.upload(bytes);
  assertError(refused, 400, UNMET);
  assert.deepEqual(refused.json().details.unmet, ['host.kvStorage', 'host.nosql']);
  const installed = await api.upload(bytes, '?grant=host.kvStorage,host.nosql');
  assert.equal(installed.statusCode, 201, installed.body);
  const { surfaces, warnings } = installed.json();
  assert.deepEqual(surfaces.capabilities.sort(), ['kvStorage', 'nosql']);
  assert.match(surfaces.undetermined.join(' '), /ctx\.db\[…\]/);
  assert.match(warnings.join(' '), /cannot be determined/);
  await api.post(`${PACKS_URL}/${PACK_NAME}/grants`, { requires: ['host.kvStorage'] });
  await api.registered(single);
  const run = await api.ended(await api.start('single'));
  const { code, message } = run.error as { code: string; message: string };
  assert.equal(code, 'sandbox_capability_denied', JSON.stringify(run));
  assert.match(message, /gantry pack grant vendor\.acme\.tools host\.nosql/);
});

test('a pack that names some surfaces tests for others, which a grant adds', async (t) => {
  const api = await packTest(t);
  const body = `
    const soft = typeof ctx.storage.kv?.put === 'function';
    if (soft) await ctx.storage.kv.put({ key: 'a', value: 1 });
    return { soft, cache: typeof ctx.storage.cache.put, secrets: typeof ctx.secrets };`;
  const { bytes } = await packArchive(
    storing(body, { manifest: { peerDependencies: { cache: 'supported' } } }),
  );
  assert.equal((await api.upload(bytes)).statusCode, 201);
  await api.registered(single);
  const outputs = async () => (await api.ended(await api.start('single'))).outputs;
  assert.deepEqual(await outputs(), { soft: false, cache: 'function', secrets: 'undefined' });
  const grants = `${PACKS_URL}/${PACK_NAME}/grants`;
  const granted = await api.post(grants, { requires: ['host.kvStorage'] });
  assert.deepEqual(granted.json().versions[0].surfaces.capabilities, ['kvStorage', 'cache']);
  assert.deepEqual(await outputs(), { soft: true, cache: 'function', secrets: 'undefined' });
  const receipts = (await api.get(`${PACKS_URL}/${PACK_NAME}/receipts`)).json();
  assert.deepEqual(receipts.unused, [], JSON.stringify(receipts));
  assertError(await api.post(grants, { requires: ['host.secrets'] }), 400, 'validation_error');
});

test('packs of the settings are granted what their plan lists', async (t) => {
  const registry = await registryFolder(t);
  await registry.publish(storing('await ctx.storage.kv.put({ key: "a", value: 1 }); return {};'));
  const api = await packTest(t, { settings: { registries: [registry.path], packs: [PACK_NAME] } });
  const [installed] = (await api.get(PACKS_URL)).json().packs;
  assert.deepEqual(installed.granted, ['host.kvStorage']);
  assert.deepEqual(await api.host.services.packs.records.heldByName(SHARED, PACK_NAME), ['host.kvStorage']);
});
