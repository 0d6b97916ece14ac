import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError } from '../api/testing/api-test.ts';
import type { TestPack } from './testing/pack-archive.ts';
import { PACKS_URL, packTest } from './testing/pack-test.ts';
import { registryFolder } from './testing/registry-folder.ts';

const CRM = 'vendor.acme.crm';
const MAIL = 'vendor.acme.mail';

const pack = (name: string, version: string, more: Partial<TestPack> = {}): TestPack => ({
  name,
  version,
  nodes: { [`${name}.work`]: { body: 'return {};' } },
  ...more,
});

test('a pack that another one needs is not removed before it', async (t) => {
  const registry = await registryFolder(t);
  await registry.publish(pack(CRM, '1.0.0', { manifest: { dependencies: { [MAIL]: '^1' } } }));
  for (const version of ['1.0.0', '1.1.0']) await registry.publish(pack(MAIL, version));
  const api = await packTest(t, { settings: { registries: [registry.path] } });
  const install = async (name: string, range: string) => {
    const answer = await api.post(PACKS_URL, { name, range });
    assert.equal(answer.statusCode, 201, answer.body);
  };
  const remove = (name: string, query = '') =>
    api.request({ method: 'DELETE', url: `${PACKS_URL}/${name}${query}` });
  await install(MAIL, '1.0.0');
  await install(CRM, '*');
  await install(MAIL, '1.1.0');
  assert.equal((await remove(MAIL, '?version=1.1.0')).statusCode, 204, 'another version will do');
  const refused = await remove(MAIL);
  assertError(refused, 409, 'pack_dependency_conflict', {
    conflictingRanges: [{ requestedBy: `${CRM}@1.0.0`, range: '^1' }],
  });
  assert.match(
    refused.json().message,
    /depends on vendor\.acme\.mail \^1\. Remove vendor\.acme\.crm first\./,
  );
  assert.equal((await remove(CRM)).statusCode, 204);
  assert.equal((await remove(MAIL)).statusCode, 204);
});
