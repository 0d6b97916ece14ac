import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { assertError } from '../api/testing/api-test.ts';
import { packArchive, type TestPack } from './testing/pack-archive.ts';
import { PACKS_URL, type PackTest, packTest } from './testing/pack-test.ts';
import { registryFolder } from './testing/registry-folder.ts';
import { acme } from './testing/signed-archive.ts';
import { trustFile } from './testing/trust-test.ts';

const CRM = 'vendor.acme.crm';
const MAIL = 'vendor.acme.mail';

const pack = (name: string, version: string, more: Partial<TestPack> = {}): TestPack => ({
  name,
  version,
  nodes: { [`${name}.work`]: { body: 'return {};' } },
  ...more,
});

/** What the host refused, as it told it. */
class Refused extends Error {
  readonly answer: { error: string; message: string; details?: Record<string, unknown> };
  constructor(answer: Refused['answer']) {
    super(`${answer.error}: ${answer.message}`);
    this.answer = answer;
  }
}

async function asked(api: PackTest, request: { name?: string; range?: string; grant?: string[] } = {}) {
  const response = await api.post(PACKS_URL, { name: CRM, ...request });
  if (response.statusCode >= 400) throw new Refused(response.json());
  return { changed: response.statusCode === 201, view: response.json() };
}

const refusal =
  (code: string, details: object = {}) =>
  (error: unknown) => {
    assert.ok(error instanceof Refused, String(error));
    assert.equal(error.answer.error, code);
    for (const [name, value] of Object.entries(details))
      assert.deepEqual(error.answer.details?.[name], value);
    return true;
  };

test('a pack comes with what it needs, into the tenant that asked', async (t) => {
  const registry = await registryFolder(t);
  await registry.publish(pack(CRM, '1.0.0', { manifest: { dependencies: { [MAIL]: '^1' } } }));
  await registry.publish(pack(MAIL, '1.0.0'));
  const api = await packTest(t, { settings: { registries: [registry.path] } });
  const { changed, view } = await asked(api, { range: '^1.0.0' });
  assert.deepEqual([changed, view.shared, view.trust], [true, false, 'signed']);
  assert.equal((await api.get(PACKS_URL)).json().packs.length, 2);
  assert.equal((await asked(api, { range: '^1.0.0' })).changed, false, 'the same again changes nothing');
});

test('nothing is installed until everything is granted', async (t) => {
  const registry = await registryFolder(t);
  const needs = { manifest: { dependencies: { [MAIL]: '^1' } }, requires: ['crypto'] };
  await registry.publish(pack(CRM, '1.0.0', needs));
  await registry.publish(pack(MAIL, '1.0.0', { requires: ['net.outbound'] }));
  const api = await packTest(t, { settings: { registries: [registry.path] } });
  const grant = ['crypto', 'net.outbound'];
  const lacking = refusal('pack_runtime_requirement_unmet', {
    manifest: `${MAIL}@1.0.0`,
    unmet: ['net.outbound'],
    added: ['net.outbound'],
  });
  await assert.rejects(asked(api, { grant }), lacking, 'a grant is for the pack that is named');
  assert.deepEqual((await api.get(PACKS_URL)).json().packs, []);
  await asked(api, { name: MAIL, grant: ['net.outbound'] });
  await assert.rejects(asked(api), refusal('pack_runtime_requirement_unmet', { unmet: ['crypto'] }));
  const { view } = await asked(api, { grant: ['crypto'] });
  assert.deepEqual(view.granted, ['crypto']);
});

test('an upgrade from the registry is judged against what is installed', async (t) => {
  const registry = await registryFolder(t);
  await registry.publish(pack(CRM, '1.0.0'));
  const api = await packTest(t, { settings: { registries: [registry.path] } });
  await asked(api);
  await registry.publish(pack(CRM, '1.1.0'), { by: null });
  await assert.rejects(asked(api), refusal('pack_signature_unverifiable'));
});

test('archives that are not the published ones are refused', async (t) => {
  const registry = await registryFolder(t);
  await registry.publish(pack(CRM, '1.0.0'), { served: { integrity: `sha256-${'A'.repeat(43)}=` } });
  const api = await packTest(t, { settings: { registries: [registry.path] } });
  await assert.rejects(asked(api), refusal('pack_integrity_failure'));
});

test('a registry behind an address is asked like one in a folder', async (t) => {
  const registry = await registryFolder(t);
  await registry.publish(pack(CRM, '1.0.0'));
  const url = `${await served(t, registry.path)}/`;
  const api = await packTest(t, { settings: { registries: [url] } });
  assert.equal((await asked(api)).view.signedBy, 'acme-1');
  const modes = await api.host.services.packs.service.trustModes();
  assert.deepEqual(modes.registries, [{ url, mode: 'verified' }]);
});

test('the key of the settings goes to the first registry, and to no fallback', async (t) => {
  const [first, fallback] = [await registryFolder(t), await registryFolder(t)];
  await fallback.publish(pack(CRM, '1.0.0'));
  const seen: Record<'first' | 'fallback', (string | undefined)[]> = { first: [], fallback: [] };
  const registries = [await served(t, first.path, seen.first), await served(t, fallback.path, seen.fallback)];
  const api = await packTest(t, { settings: { registries, registryKey: 'gk_reader' } });
  assert.equal((await asked(api)).view.signedBy, 'acme-1');
  assert.deepEqual(new Set(seen.first), new Set(['Bearer gk_reader']));
  assert.deepEqual(new Set(seen.fallback), new Set([undefined]));
});

/** The address of a server for the files of a folder; `seen` gets the keys that were sent. */
async function served(t: TestContext, folder: string, seen: (string | undefined)[] = []): Promise<string> {
  const server = createServer((request, response) => {
    seen.push(request.headers.authorization);
    readFile(`${folder}${request.url}`).then(
      (bytes) => response.end(bytes),
      () => response.writeHead(404).end(),
    );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}

test('a developed version gives way to its release, and a release to nothing', async (t) => {
  const registry = await registryFolder(t);
  await registry.publish(pack(CRM, '1.0.0'));
  const api = await packTest(t, { settings: { registries: [registry.path] } });
  await api.install(pack(CRM, '1.0.0', { files: { 'draft.json': {} } }), '?development=true');
  const { view } = await asked(api);
  assert.deepEqual([view.development, view.trust], [false, 'signed']);
  const again = await packArchive(pack(CRM, '1.0.0'));
  assertError(await api.upload(again.bytes, '?development=true'), 409, 'pack_version_conflict');
});

const needing = (dependencies: Record<string, string>): Partial<TestPack> => ({ manifest: { dependencies } });

const listed = async (api: PackTest): Promise<string[]> =>
  (await api.get(PACKS_URL))
    .json()
    .packs.map(({ name, version }: Record<string, string>) => `${name}@${version}`)
    .sort();

test('a later install keeps to the ranges of what is installed', async (t) => {
  const registry = await registryFolder(t);
  await registry.publish(pack(CRM, '1.0.0', needing({ [MAIL]: '^1' })));
  await registry.publish(pack(MAIL, '1.0.0'));
  const api = await packTest(t, { settings: { registries: [registry.path] } });
  await asked(api);
  for (const version of ['1.1.0', '2.0.0']) await registry.publish(pack(MAIL, version));
  await registry.publish(pack('vendor.acme.news', '1.0.0', needing({ [MAIL]: '*' })));
  await registry.publish(pack('vendor.acme.fax', '1.0.0', needing({ [MAIL]: '>=1.1' })));
  await registry.publish(pack('vendor.acme.post', '1.0.0', needing({ [MAIL]: '^2' })));
  await asked(api, { name: 'vendor.acme.news' });
  assert.equal((await listed(api)).filter((name) => name.startsWith(MAIL)).join(), `${MAIL}@1.0.0`);
  await asked(api, { name: 'vendor.acme.fax' });
  assert.equal((await api.get(`${PACKS_URL}/${MAIL}`)).json().versions[0].version, '1.1.0');
  await assert.rejects(asked(api, { name: 'vendor.acme.post' }), (error) =>
    refusal('pack_dependency_conflict', {
      packName: MAIL,
      conflictingRanges: [
        { requestedBy: `${CRM}@1.0.0`, range: '^1' },
        { requestedBy: 'vendor.acme.fax@1.0.0', range: '>=1.1' },
        { requestedBy: 'vendor.acme.news@1.0.0', range: '*' },
        { requestedBy: 'vendor.acme.post@1.0.0', range: '^2' },
      ],
    })(error),
  );
  await registry.publish(pack(CRM, '2.0.0', needing({ [MAIL]: '^2' })));
  const both = await api.post(PACKS_URL, { packs: [{ name: CRM }, { name: 'vendor.acme.post' }] });
  assert.equal(both.statusCode, 201, both.body);
  assert.equal((await api.get(`${PACKS_URL}/${MAIL}`)).json().versions[0].version, '2.0.0');
});

test('an upload keeps to the ranges of what is installed, unless it is in development', async (t) => {
  const api = await packTest(t);
  await api.install(pack(CRM, '1.0.0', needing({ [MAIL]: '^1' })));
  await api.install(pack(MAIL, '1.0.0'));
  const { bytes } = await packArchive(pack(MAIL, '2.0.0'));
  const refused = await api.upload(bytes);
  assertError(refused, 409, 'pack_dependency_conflict');
  assert.deepEqual(refused.json().details.conflictingRanges, [{ requestedBy: `${CRM}@1.0.0`, range: '^1' }]);
  await api.install(pack(CRM, '2.0.0', needing({ [MAIL]: '*' })));
  assert.equal((await api.upload(bytes)).statusCode, 201);
  await api.install(pack(MAIL, '3.0.0', needing({ [CRM]: '^2' })));
  await api.install(pack(CRM, '3.0.0'), '?development=true');
});

test('the packs of a plan are installed together, after one approval of exactly this plan', async (t) => {
  const registry = await registryFolder(t);
  await registry.publish(pack(CRM, '1.0.0', { ...needing({ [MAIL]: '^1' }), requires: ['crypto'] }));
  await registry.publish(pack(MAIL, '1.0.0', { requires: ['net.outbound'] }));
  const api = await packTest(t, { settings: { registries: [registry.path] } });
  const plan = { packs: [{ name: CRM }] };
  const refused = await api.post(PACKS_URL, plan);
  assertError(refused, 400, 'pack_runtime_requirement_unmet');
  const { packs, plan: confirms } = refused.json().details;
  assert.deepEqual(
    packs.map(({ name, unmet }: { name: string; unmet: string[] }) => [name, unmet]),
    [
      [MAIL, ['net.outbound']],
      [CRM, ['crypto']],
    ],
  );
  const grants = { [CRM]: ['crypto'], [MAIL]: ['net.outbound'] };
  await registry.publish(pack(MAIL, '1.1.0', { requires: ['net.outbound'] }));
  assertError(await api.post(PACKS_URL, { ...plan, grants, confirms }), 409, 'conflict');
  const stray = await api.post(PACKS_URL, { ...plan, grants: { ...grants, 'vendor.acme.x': [] } });
  assertError(stray, 400, 'validation_error');
  assert.deepEqual(await listed(api), []);
  const done = await api.post(PACKS_URL, { ...plan, grants });
  assert.equal(done.statusCode, 201, done.body);
  assert.deepEqual(await listed(api), [`${CRM}@1.0.0`, `${MAIL}@1.1.0`]);
  const again = await api.post(PACKS_URL, plan);
  assert.equal(again.statusCode, 200);
  assert.deepEqual([again.json().installed, again.json().present.length], [[], 2]);
  const elsewhere = await api.post(PACKS_URL, { ...plan, registries: ['https://packs.example'] });
  assertError(elsewhere, 501, 'capability_not_provided');
});

test('what the caller vouches for is judged like its upload, never more mildly', async (t) => {
  const registry = await registryFolder(t);
  await registry.publish(pack(CRM, '1.0.0'), { by: null });
  await registry.publish(pack(MAIL, '1.0.0'));
  const registries = [registry.path];
  const open = await packTest(t, { settings: { registries } });
  const vouched = (name: string) => ({ packs: [{ name }], unverified: true });
  assertError(await open.post(PACKS_URL, { packs: [{ name: CRM }] }), 400, 'pack_signature_unverifiable');
  assert.equal((await open.post(PACKS_URL, vouched(CRM))).statusCode, 201);
  const strict = await trustFile(t, {
    policy: { mode: 'verified' },
    registries: [{ url: registry.path, policy: { mode: 'pinned', pins: [] } }],
  });
  const api = await packTest(t, { settings: { registries, trustFile: strict } });
  assertError(await api.post(PACKS_URL, { packs: [{ name: MAIL }] }), 403, 'pack_not_allowed');
  assertError(await api.post(PACKS_URL, vouched(MAIL)), 400, 'pack_signature_unverifiable');
});

const lockOf = (registry: string, packs: readonly object[], more: object = {}): string =>
  JSON.stringify({ lockfileVersion: 1, generatedAt: '2026-05-01T00:00:00Z', registry, ...more, packs });

test('the rules of a lockfile hold for every entry, installed or not', async (t) => {
  const registry = await registryFolder(t);
  const integrity = await registry.publish(pack(MAIL, '1.0.0'));
  const api = await packTest(t, { settings: { registries: [registry.path] } });
  const entry = { name: MAIL, version: '1.0.0', integrity };
  const frozen = (packs: readonly object[], more?: object) =>
    api.post(PACKS_URL, {
      packs: [{ name: MAIL, range: '^2.0.0' }],
      frozen: true,
      lock: lockOf(url, packs, more),
    });
  const url = `file://${registry.path}`;
  const peers = { peerDependencies: { 'host.kanban': 'supported' } };
  const signature = { algorithm: 'ed25519', publicKey: acme.key.publicKey, value: 'AAAA' };
  const refusals = async () => {
    assertError(await frozen([{ ...entry, ...peers }]), 400, 'pack_peer_dependency_missing');
    assertError(await frozen([{ ...entry, signature }]), 400, 'pack_signature_invalid');
    const other = { overrides: { [MAIL]: '1.1.0' } };
    assertError(await frozen([entry], other), 400, 'pack_lockfile_invalid');
  };
  await refusals();
  assert.deepEqual(await listed(api), []);
  const done = await frozen([entry]);
  assert.equal(done.statusCode, 201, done.body);
  // The pin beats the range, with a word about it
  assert.match(done.json().installed[0].warnings[0], /pins vendor\.acme\.mail to 1\.0\.0, and .* \^2\.0\.0/);
  await refusals();
  assert.equal((await frozen([entry])).statusCode, 200);
});

test('a lockfile made against another registry installs from its mirror, to the byte', async (t) => {
  const registry = await registryFolder(t);
  const integrity = await registry.publish(pack(MAIL, '1.0.0'));
  const address = await served(t, registry.path);
  const resolved = `https://packs.example/v1/packs/${MAIL}/-/1.0.0.tgz`;
  const locked = (of: string) =>
    lockOf('https://packs.example', [{ name: MAIL, version: '1.0.0', resolved, integrity: of }]);
  const plan = (of: string) => ({ packs: [{ name: MAIL }], frozen: true, lock: locked(of) });
  const plain = await packTest(t, { settings: { registries: [address] } });
  assertError(await plain.post(PACKS_URL, plan(integrity)), 502, 'pack_fetch_failed');
  const registryMirrors = new Map([[address, 'https://packs.example']]);
  const api = await packTest(t, { settings: { registries: [address], registryMirrors } });
  assertError(await api.post(PACKS_URL, plan(`sha256-${'A'.repeat(43)}=`)), 400, 'pack_integrity_mismatch');
  const done = await api.post(PACKS_URL, plan(integrity));
  assert.equal(done.statusCode, 201, done.body);
  assert.equal(done.json().installed[0].signedBy, 'acme-1');
});

test('without a registry, a name is refused with what to do', async (t) => {
  await assert.rejects(asked(await packTest(t)), /GANTRY_REGISTRY_URL/);
});

test('an upload brings what it depends on, with the same rules', async (t) => {
  const registry = await registryFolder(t);
  await registry.publish(pack(MAIL, '1.0.0'));
  await registry.publish(pack(MAIL, '1.1.0'));
  const api = await packTest(t, { settings: { registries: [registry.path] } });
  const upload = async (version: string, dependencies: Record<string, string>) =>
    api.upload((await packArchive(pack(CRM, version, needing(dependencies)))).bytes);
  const installed = async () =>
    (await api.get(PACKS_URL))
      .json()
      .packs.map((one: TestPack) => `${one.name}@${one.version}`)
      .sort();
  assertError(await upload('1.0.0', { [MAIL]: '^2' }), 404, 'pack_version_not_found');
  assert.deepEqual(await installed(), []);
  const first = await upload('1.0.0', { [MAIL]: '~1.0.0' });
  assert.deepEqual([first.statusCode, first.json().name], [201, CRM]);
  assert.deepEqual(await installed(), [`${CRM}@1.0.0`, `${MAIL}@1.0.0`]);
  assert.equal((await upload('1.1.0', { [MAIL]: '^1' })).statusCode, 201);
  assert.deepEqual(await installed(), [`${CRM}@1.0.0`, `${CRM}@1.1.0`, `${MAIL}@1.0.0`], 'what fits stays');
});

test('plans of one tenant take turns, and too many that wait are refused', async (t) => {
  const api = await packTest(t);
  const { bytes } = await packArchive(pack(MAIL, '1.0.0'));
  const answers = await Promise.all(Array.from({ length: 20 }, () => api.upload(bytes)));
  const statuses = answers.map(({ statusCode }) => statusCode).sort();
  assert.deepEqual(statuses, [...Array(16).fill(200), 201, ...Array(3).fill(429)]);
});
