import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError } from '../api/testing/api-test.ts';
import { PACK_NAME, packArchive, type TestPack } from './testing/pack-archive.ts';
import { PACKS_URL, type PackTest, packTest } from './testing/pack-test.ts';
import { registryFolder } from './testing/registry-folder.ts';
import { acme, filesSignedArchive, signedArchive, swapped } from './testing/signed-archive.ts';
import { trustFile, trusting } from './testing/trust-test.ts';

const pack = (more: Partial<TestPack> = {}): TestPack => ({
  nodes: { 'vendor.acme.work': { body: 'return {};' } },
  ...more,
});
const verified = { policy: { mode: 'verified' }, keys: [acme.key] };
const OTHER_CODE = { 'index.mjs': 'export const nodes = { "vendor.acme.work": () => ({ stolen: true }) };' };

async function accepted(api: PackTest, { bytes }: { bytes: Buffer }, query = '') {
  const response = await api.upload(bytes, query);
  assert.ok(response.statusCode === 201 || response.statusCode === 200, response.body);
  return response.json();
}

const removed = (api: PackTest, name = PACK_NAME) =>
  api.request({ method: 'DELETE', url: `${PACKS_URL}/${name}` });

test('a signature over the files holds the code; one over the manifest is told as such', async (t) => {
  const api = await trusting(t, verified);
  const signed = await filesSignedArchive(pack({ version: '1.1.0' }));
  const view = await accepted(api, await signedArchive(pack()));
  assert.equal(view.covers, 'manifest');
  assert.match(view.warnings.join(' '), /covers pack\.json only/);
  for (const changes of [
    OTHER_CODE,
    { 'more.mjs': 'export {};' },
    { 'index.mjs': undefined, 'other.mjs': '' },
    { 'files.json': '{}' },
    { 'files.json': undefined },
    { 'files.json.sig': 'x'.repeat(64) },
  ]) {
    const { bytes } = await swapped(signed, changes);
    const response = await api.upload(bytes);
    assert.equal(response.statusCode, 400, JSON.stringify(changes));
    if (!('index.mjs' in changes && changes['index.mjs'] === undefined))
      assertError(response, 400, 'pack_signature_invalid');
  }
  const whole = await accepted(api, signed);
  assert.deepEqual([whole.covers, whole.warnings], ['files', []]);
  const [listed] = (await api.get(PACKS_URL)).json().packs;
  assert.equal(listed.covers, 'files');
  const weaker = await signedArchive(pack({ version: '1.2.0' }));
  assertError(await api.upload(weaker.bytes), 409, 'pack_trust_downgrade');
});

test('code swapped in a registry is told, and refused where the files must be signed', async (t) => {
  const registry = await registryFolder(t);
  const integrity = await registry.publish(pack());
  const asked = { name: PACK_NAME };
  const told = await packTest(t, { settings: { registries: [registry.path] } });
  const response = await told.post(PACKS_URL, asked);
  assert.match(response.json().warnings.join(' '), /covers pack\.json only/);
  const strict = { registries: [registry.path], packSignatures: 'files' } as const;
  const api = await packTest(t, { settings: strict });
  assertError(await api.post(PACKS_URL, asked), 400, 'pack_signature_unverifiable');
  const pins = [{ name: PACK_NAME, version: '1.0.0', integrity }];
  const pinned = await packTest(t, {
    settings: { ...strict, trustFile: await trustFile(t, { policy: { mode: 'verified', pins } }) },
  });
  assert.deepEqual((await pinned.post(PACKS_URL, asked)).json().warnings, []);
});

test('a version keeps its bytes after it was uninstalled, and nobody takes it from others', async (t) => {
  const api = await trusting(t, { policy: { mode: 'open' }, keys: [acme.key] });
  const [first, other] = [await packArchive(pack()), await packArchive(pack({ files: { 'a.json': {} } }))];
  await accepted(api, first);
  await removed(api);
  assertError(await api.upload(other.bytes), 409, 'pack_version_conflict');
  assertError(await api.upload((await signedArchive(pack())).bytes), 409, 'pack_version_conflict');
  await accepted(api, first);
  const draft = { version: '2.0.0', files: { 'draft.json': {} } };
  await accepted(api, await packArchive(pack(draft)), '?development=true');
  await accepted(api, await packArchive(pack({ version: '2.0.0' })));
  const elsewhere = await api.host.services.packs.service.install({
    tenant: 'another',
    archive: other.bytes,
    grant: [],
    by: 'test',
  });
  assert.equal(elsewhere.changed, true, 'an archive that nobody proved counts for its own tenant alone');
});

test('an older version replaces a newer one only when somebody says so', async (t) => {
  const api = await trusting(t, verified);
  await accepted(api, await signedArchive(pack({ version: '2.0.0' })));
  const older = await signedArchive(pack({ version: '1.9.0' }));
  assertError(await api.upload(older.bytes), 409, 'pack_trust_downgrade');
  await accepted(api, older, '?older=true');
  const again = await accepted(api, await signedArchive(pack({ version: '2.0.0' })));
  assert.equal(again.version, '2.0.0', 'what is already installed may come again');
});

test('names of the scope core need a key for them, in every mode', async (t) => {
  const api = await trusting(t, { policy: { mode: 'open' }, keys: [acme.key] });
  const core = pack({ name: 'core.acme.tools' });
  assertError(await api.upload((await packArchive(core)).bytes), 403, 'pack_namespace_unauthorized');
  const theirs = await signedArchive(core);
  assertError(await api.upload(theirs.bytes), 403, 'pack_namespace_unauthorized');
});

test('pinned mode takes what a workflow pins, from the registry, and nothing else', async (t) => {
  const registry = await registryFolder(t);
  const integrity = await registry.publish(pack());
  const settings = {
    registries: [registry.path],
    trustFile: await trustFile(t, { policy: { mode: 'pinned', pins: [] } }),
  };
  const api = await packTest(t, { settings });
  assertError(await api.post(PACKS_URL, { name: PACK_NAME }), 403, 'pack_not_allowed');
  const workflow = (packs: object) => ({
    id: 'pinned',
    name: 'pinned',
    version: '1.0.0',
    nodes: [
      { id: 'a', typeId: 'vendor.acme.work', name: 'a', position: { x: 0, y: 0 }, config: {}, inputs: {} },
    ],
    edges: [],
    triggers: [],
    variables: [],
    metadata: {},
    settings: {},
    packs,
  });
  const wrong = { [PACK_NAME]: { version: '1.0.0', integrity: `sha256-${'A'.repeat(43)}=` } };
  const refused = await api.post('/v1/host/gantry/workflows', workflow(wrong));
  assertError(refused, 400, 'pack_integrity_failure');
  const right = await api.post(
    '/v1/host/gantry/workflows',
    workflow({ [PACK_NAME]: { version: '1.0.0', integrity } }),
  );
  assert.equal(right.statusCode, 201, right.body);
  await removed(api);
  const again = await api.post(PACKS_URL, { name: PACK_NAME });
  assert.equal(again.statusCode, 201, 'the workflow that is registered still pins it');
});
