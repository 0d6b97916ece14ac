import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { assertError } from '../api/testing.ts';
import { packArchive, type TestPack } from './testing/pack-archive.ts';
import { PACKS_URL, type PackTest, packTest } from './testing/pack-test.ts';
import { registryFolder } from './testing/registry-folder.ts';

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
  const server = createServer((request, response) => {
    readFile(`${registry.path}${request.url}`).then(
      (bytes) => response.end(bytes),
      () => response.writeHead(404).end(),
    );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const api = await packTest(t, { settings: { registries: [`http://127.0.0.1:${port}/`] } });
  assert.equal((await asked(api)).view.signedBy, 'acme-1');
  const modes = await api.host.services.packs.service.trustModes();
  assert.deepEqual(modes.registries, [{ url: `http://127.0.0.1:${port}/`, mode: 'verified' }]);
});

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

test('without a registry, a name is refused with what to do', async (t) => {
  await assert.rejects(asked(await packTest(t)), /GANTRY_REGISTRY_URL/);
});
