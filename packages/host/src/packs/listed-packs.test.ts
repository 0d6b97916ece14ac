import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { type TestContext, test } from 'node:test';
import { readSettings, SettingsError } from '../settings.ts';
import { node, workflow } from '../testing/definitions.ts';
import { temporaryFolder } from '../testing/host-process.ts';
import { testHost } from '../testing/test-host.ts';
import { PACKS_URL, packTest } from './testing/pack-test.ts';

async function packFolder(t: TestContext): Promise<string> {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const pack = `${folder.path}/tools`;
  await mkdir(pack);
  const manifest = {
    name: 'vendor.acme.tools',
    version: '0.1.0',
    engines: { openwop: '>=1.0.0' },
    nodes: [{ typeId: 'vendor.acme.hash', version: '1.0.0', category: 'data', role: 'pure' }],
    runtime: { language: 'javascript', entry: './index.mjs', requires: ['crypto'] },
  };
  await writeFile(`${pack}/pack.json`, JSON.stringify(manifest));
  await writeFile(
    `${pack}/index.mjs`,
    'export default { "vendor.acme.hash": async () => ({ from: "folder" }) };',
  );
  return pack;
}

test('a folder that the settings name serves every tenant, also workflows of the start', async (t) => {
  const pack = await packFolder(t);
  const workflows = await temporaryFolder();
  t.after(workflows.remove);
  const flow = workflow('hash', [node('a', 'vendor.acme.hash')]);
  await writeFile(`${workflows.path}/hash.json`, JSON.stringify(flow));
  const api = await packTest(t, { settings: { packs: [pack], workflowsDir: workflows.path } });
  assert.deepEqual((await api.ended(await api.start('hash'))).outputs, { from: 'folder' });
  const [installed] = (await api.get(PACKS_URL)).json().packs;
  assert.deepEqual([installed.shared, installed.source, installed.granted], [true, 'folder', ['crypto']]);
  const removed = await api.request({ method: 'DELETE', url: `${PACKS_URL}/vendor.acme.tools` });
  assert.equal(removed.statusCode, 404, 'tenants cannot take it away from each other');
});

test('what is neither a folder nor a name stops the start with what to do', async (t) => {
  for (const [item, message] of [
    ['./vendor.acme.tools', /neither a folder nor the name/],
    ['core.openwop.http@^1.0.0', /core\.openwop\.http.*GANTRY_REGISTRY_URL/],
  ] as const)
    await assert.rejects(testHost(t, { settings: { packs: [item] } }), (error) => {
      assert.ok(error instanceof SettingsError);
      assert.match(error.message, message);
      return true;
    });
});

test('the settings of packs', () => {
  const { packs, sandbox, packMemoryMb, packTimeoutSeconds } = readSettings(['--packs', './a, ./b'], {});
  assert.deepEqual([packs, sandbox, packMemoryMb, packTimeoutSeconds], [['./a', './b'], 'os', 256, 30]);
  assert.equal(readSettings([], { GANTRY_SANDBOX: 'permission-only' }).sandbox, 'permission-only');
  assert.throws(() => readSettings([], { GANTRY_SANDBOX: 'none' }), SettingsError);
  const uidsOf = (text?: string) => readSettings([], { GANTRY_SANDBOX_UIDS: text }).sandboxUids;
  assert.deepEqual(uidsOf(), { first: 61_184, last: 65_519 });
  assert.deepEqual(uidsOf('200000-200999'), { first: 200_000, last: 200_999 });
  for (const wrong of ['0-100', '5000', '5000-5010', 'all', '1-4294967296'])
    assert.throws(() => uidsOf(wrong), SettingsError);
});
