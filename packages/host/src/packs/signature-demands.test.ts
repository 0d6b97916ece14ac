/** `GANTRY_PACK_SIGNATURES=files`, where the signature of a pack from a registry covers its manifest alone. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { assertError } from '../api/testing/api-test.ts';
import { SettingsError } from '../settings.ts';
import { node, workflow } from '../testing/definitions.ts';
import { temporaryFolder } from '../testing/host-process.ts';
import { PACK_NAME } from './testing/pack-archive.ts';
import { PACKS_URL, type PackTest, packTest } from './testing/pack-test.ts';
import { registryFolder } from './testing/registry-folder.ts';

const TYPE = 'vendor.acme.work';
const PACK = { nodes: { [TYPE]: { body: 'return { done: true };' } } };
const other = `sha256-${'A'.repeat(43)}=`;

const listed = async (api: PackTest) =>
  (await api.get(PACKS_URL)).json().packs.map(({ name, covers }: Record<string, string>) => [name, covers]);

test('the integrity of a lockfile is enough', async (t) => {
  const registry = await registryFolder(t);
  const integrity = await registry.publish(PACK);
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const packLock = `${folder.path}/pack-lock.json`;
  const lock = (packs: readonly object[]) =>
    writeFile(
      packLock,
      JSON.stringify({
        lockfileVersion: 1,
        generatedAt: '2026-05-01T00:00:00Z',
        registry: `file://${registry.path}`,
        packs,
      }),
    );
  const settings = { packs: [PACK_NAME], registries: [registry.path], packSignatures: 'files' } as const;
  await assert.rejects(packTest(t, { settings }), (error) => {
    assert.ok(error instanceof SettingsError, String(error));
    assert.match(error.message, /covers pack\.json only/);
    return true;
  });
  await lock([{ name: PACK_NAME, version: '1.0.0', integrity }]);
  const api = await packTest(t, { settings: { ...settings, packLock } });
  assert.deepEqual(await listed(api), [[PACK_NAME, 'manifest']]);
  await lock([{ name: PACK_NAME, version: '1.0.0', integrity: other }]);
  await assert.rejects(packTest(t, { settings: { ...settings, packLock } }), /the lockfile says sha256-AAA/);
});

test('the integrity in the packs of a workflow is enough', async (t) => {
  const registry = await registryFolder(t);
  const integrity = await registry.publish(PACK);
  const api = await packTest(t, { settings: { registries: [registry.path], packSignatures: 'files' } });
  const asking = (packs: Record<string, { version: string; integrity?: string }>) =>
    api.register({ ...workflow('pinned', [node('a', TYPE)]), packs });
  assertError(await api.post(PACKS_URL, { name: PACK_NAME }), 400, 'pack_signature_unverifiable');
  const unpinned = await asking({ [PACK_NAME]: { version: '1.0.0' } });
  assertError(unpinned, 400, 'pack_load_failure');
  const wrong = await asking({ [PACK_NAME]: { version: '1.0.0', integrity: other } });
  assertError(wrong, 400, 'pack_signature_unverifiable');
  assert.deepEqual(await listed(api), []);
  const right = await asking({ [PACK_NAME]: { version: '1.0.0', integrity } });
  assert.equal(right.statusCode, 201, right.body);
  assert.deepEqual(await listed(api), [[PACK_NAME, 'manifest']]);
  assert.deepEqual((await api.ended(await api.start('pinned'))).outputs, { done: true });
});
