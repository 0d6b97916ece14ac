/** Content of uninstalled packs goes with the last run that is pinned to it. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { node, workflow } from '../testing/definitions.ts';
import { PACK_NAME, packArchive } from './testing/pack-archive.ts';
import { PACKS_URL, packTest } from './testing/pack-test.ts';

const TYPE = 'vendor.acme.work';
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

test('archives are kept for the runs that are pinned to them, and freed after the last', async (t) => {
  let clock = Date.now();
  const api = await packTest(t, { settings: { retentionDays: 7 }, now: () => clock });
  const { records, folders } = api.host.services.packs;
  const used = { version: '1.0.0', nodes: { [TYPE]: { body: 'return {};' } } };
  const unused = { version: '2.0.0', nodes: { [TYPE]: { body: 'return { newer: true };' } } };
  await api.install(used);
  await api.registered(workflow('work', [node('a', TYPE)]));
  await api.ended(await api.start('work'));
  await api.install(unused);
  const { integrity } = await packArchive(used);
  const { integrity: other } = await packArchive(unused);
  const folder = await folders.folderOf({ name: PACK_NAME, version: '1.0.0', integrity });
  const sweeping = async () => {
    await api.host.sweep();
    clock += HOUR;
    await api.host.sweep();
  };
  const kept = async (id: string) =>
    records.archive(id).then(
      () => true,
      () => false,
    );
  await sweeping();
  assert.deepEqual([await kept(integrity), await kept(other)], [true, true], 'both are installed');
  assert.equal((await api.request({ method: 'DELETE', url: `${PACKS_URL}/${PACK_NAME}` })).statusCode, 204);
  await api.host.sweep();
  assert.equal(await kept(other), true, 'somebody may be about to use it');
  clock += HOUR;
  await api.host.sweep();
  assert.deepEqual([await kept(integrity), await kept(other)], [true, false], 'a run is pinned to one');
  clock += 8 * DAY;
  await sweeping();
  assert.deepEqual(
    [await kept(integrity), existsSync(folder)],
    [false, false],
    'the run is past its retention',
  );
  await api.install(used);
  await api.ended(await api.start('work'));
});
