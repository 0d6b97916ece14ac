import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { readArchive } from '@gantry/packs';
import { assertError } from '../api/testing/api-test.ts';
import { temporaryFolder } from '../testing/host-process.ts';
import { PACK_NAME, packArchive, type TestPack } from './testing/pack-archive.ts';
import { PACKS_URL, type PackTest, packTest } from './testing/pack-test.ts';
import { acme, publisher, signedArchive } from './testing/signed-archive.ts';
import { trustFile, trusting } from './testing/trust-test.ts';

const pack = (more: Partial<TestPack> = {}): TestPack => ({
  nodes: { 'vendor.acme.work': { body: 'return {};' } },
  ...more,
});
const verified = { policy: { mode: 'verified' }, keys: [acme.key] };

async function accepted(api: PackTest, { bytes }: { bytes: Buffer }) {
  const response = await api.upload(bytes);
  assert.equal(response.statusCode, 201, response.body);
  return response.json();
}

test('open takes what is not signed, and still refuses a wrong signature', async (t) => {
  const api = await trusting(t, { policy: { mode: 'open' }, keys: [acme.key] });
  const { trust } = await accepted(api, await packArchive(pack()));
  assert.equal(trust, 'unsigned');
  const impostor = publisher(acme.key.keyId, ['vendor.acme.*']);
  const forged = await signedArchive(pack({ version: '2.0.0' }), impostor);
  assertError(await api.upload(forged.bytes), 400, 'pack_signature_invalid');
});

test('verified takes what a known key signed for its namespace, and nothing else', async (t) => {
  const other = publisher('other-1', ['vendor.other.*']);
  const api = await trusting(t, { ...verified, keys: [acme.key, other.key] });
  const { bytes } = await packArchive(pack());
  assertError(await api.upload(bytes), 400, 'pack_signature_unverifiable');
  assertError(await api.upload(bytes, '?development=true'), 400, 'pack_signature_unverifiable');
  const stranger = await signedArchive(pack(), publisher('stranger', ['*']));
  assertError(await api.upload(stranger.bytes), 400, 'pack_signature_unverifiable');
  const outside = await signedArchive(pack(), other);
  assertError(await api.upload(outside.bytes), 403, 'pack_namespace_unauthorized');
  assert.deepEqual((await api.get(PACKS_URL)).json().packs, []);
  const view = await accepted(api, await signedArchive(pack()));
  assert.deepEqual([view.trust, view.signedBy], ['signed', acme.key.keyId]);
});

test('a revoked key signs nothing any more', async (t) => {
  const api = await trusting(t, { ...verified, keys: [{ ...acme.key, status: 'revoked' }] });
  const { bytes } = await signedArchive(pack());
  assertError(await api.upload(bytes), 400, 'pack_signature_invalid');
});

test('allowlist takes the versions it lists, with the bytes it lists', async (t) => {
  const first = await packArchive(pack());
  const nailed = { name: 'vendor.acme.nailed', integrity: first.integrity };
  const packs = [{ name: PACK_NAME, versions: '^1.0.0' }, nailed];
  const api = await trusting(t, { policy: { mode: 'allowlist', packs } });
  await accepted(api, first);
  const next = await packArchive(pack({ version: '2.0.0' }));
  assertError(await api.upload(next.bytes), 403, 'pack_not_allowed');
  const changed = await packArchive(pack({ name: nailed.name }));
  assertError(await api.upload(changed.bytes), 400, 'pack_integrity_failure');
});

test('pinned takes exactly the pinned archive', async (t) => {
  const pinned = await packArchive(pack());
  const pins = [{ name: PACK_NAME, version: '1.0.0', integrity: pinned.integrity }];
  const api = await trusting(t, { policy: { mode: 'pinned', pins } });
  const files = { 'more.json': {} };
  assertError(await api.upload((await packArchive(pack({ files }))).bytes), 400, 'pack_integrity_failure');
  const next = await packArchive(pack({ version: '1.0.1' }));
  assertError(await api.upload(next.bytes), 403, 'pack_not_allowed');
  await accepted(api, pinned);
});

test('an upgrade does not lose its proof, and tells of another signer', async (t) => {
  const heir = publisher('acme-2', ['vendor.acme.*']);
  const api = await trusting(t, { policy: { mode: 'open' }, keys: [acme.key, heir.key] });
  await accepted(api, await signedArchive(pack()));
  const unsigned = await packArchive(pack({ version: '1.1.0' }));
  assertError(await api.upload(unsigned.bytes), 409, 'pack_trust_downgrade');
  const { warnings } = await accepted(api, await signedArchive(pack({ version: '1.1.0' }), heir));
  assert.match(warnings.join(' '), /signed by acme-2, the installed version by acme-1/);
  await api.request({ method: 'DELETE', url: `${PACKS_URL}/${PACK_NAME}` });
  await accepted(api, await packArchive(pack({ version: '1.2.0' })));
});

test('a folder in development is open, whatever the policy is for others', async (t) => {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const { files } = await readArchive((await packArchive(pack())).bytes);
  await mkdir(`${folder.path}/tools`);
  for (const [name, bytes] of files) await writeFile(`${folder.path}/tools/${name}`, bytes);
  const settings = { packs: [`${folder.path}/tools`], trustFile: await trustFile(t, verified) };
  const api = await packTest(t, { settings });
  const [installed] = (await api.get(PACKS_URL)).json().packs;
  assert.deepEqual([installed.name, installed.trust, installed.shared], [PACK_NAME, 'unsigned', true]);
  assertError(
    await api.upload((await packArchive(pack({ version: '9.0.0' }))).bytes),
    400,
    'pack_signature_unverifiable',
  );
});
