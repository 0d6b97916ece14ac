/** Kills hosts around the commit that starts the run of a message: none is lost, none starts twice. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openSqlite } from '@gantry/store';
import { LOADERS } from '../../../../protocol/src/testing/loaders.ts';
import { temporaryFolder } from '../../testing/host-process.ts';
import { leftIn, listening, queueTest } from './testing/queue-test.ts';

const DYING = fileURLToPath(new URL('./testing/dying-host.ts', import.meta.url));
/** A message that a dead process held is free after ten seconds. */
const HELD_MS = 11_000;
const PAYLOADS = ['one', 'two', 'three'];

async function folderWith(t: TestContext): Promise<string> {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  await mkdir(`${folder.path}/workflows`);
  await mkdir(`${folder.path}/data`);
  const definition = listening('heard', 'in', { consumerGroup: 'heard' });
  await writeFile(`${folder.path}/workflows/heard.json`, JSON.stringify(definition));
  return folder.path;
}

/** Resolves when it has died of its own hand. */
async function die(
  moment: 'before' | 'after',
  aheadMs: number,
  folder: string,
  payloads: readonly string[] = [],
): Promise<void> {
  const args = [...LOADERS, DYING, moment, String(aheadMs), folder, 'in', ...payloads];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  const [code, signal] = await once(child, 'exit');
  assert.deepEqual([code, signal], [null, 'SIGKILL']);
}

test('a host that dies before or after the commit, twice, starts one run for each message', async (t) => {
  const folder = await folderWith(t);
  await die('after', 0, folder, PAYLOADS.slice(1));
  await die('before', HELD_MS, folder, PAYLOADS.slice(0, 1));
  const settings = { dataDir: `${folder}/data`, workflowsDir: `${folder}/workflows` };
  const rig = await queueTest(t, {
    settings,
    store: await openSqlite({ dataDir: settings.dataDir }),
    now: () => Date.now() + 2 * HELD_MS,
  });
  await rig.publish('in', 'four');
  const expected = [...PAYLOADS, 'four'].map((input) => ({ input }));
  await rig.outputs('heard', expected.length);
  await rig.host.services.triggers.stop();
  const started = await rig.outputs('heard', expected.length);
  assert.equal(started.length, expected.length);
  assert.deepEqual(texts(started), texts(expected));
  const place = { topic: 'in', group: 'heard' };
  assert.deepEqual(await leftIn(rig.queue, place, Date.now() + 5 * HELD_MS), [], 'all are acknowledged');
});

const texts = (values: readonly unknown[]): Set<string> =>
  new Set(values.map((each) => JSON.stringify(each)));
