/** Schedules over the end of a process: killed, restarted, and two on one database. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Schedule } from '@gantry/protocol';
import { freshDatabase } from '../../../store/src/testing/postgres-server.ts';
import { node, workflow } from '../testing/definitions.ts';
import { type HostProcess, startHostProcess, TEST_KEY, temporaryFolder } from '../testing/host-process.ts';

const URL = '/v1/host/gantry/schedules';
const every = (cron: string) =>
  workflow('beat', [node('a', 'core.noop')], {
    triggers: [{ id: 'clock', type: 'schedule', config: { cron } }],
  });

interface Answer {
  readonly schedules: readonly Schedule[];
  readonly runs: readonly { readonly runId: string }[];
  readonly events: readonly { readonly causationId: string }[];
}

async function call<T = Answer>(host: HostProcess, url: string, body?: object): Promise<T> {
  const response = await fetch(`${host.url}${url}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  assert.ok(response.ok, `${response.status}`);
  return (await response.json()) as T;
}

async function folderWith(t: TestContext, cron: string) {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  await writeFile(path.join(folder.path, 'beat.json'), JSON.stringify(every(cron)));
  return folder.path;
}

/** There is no stream of schedules, so this looks now and then. */
async function nextFire(host: HostProcess, scheduleId: string, after: string | undefined) {
  for (;;) {
    const { lastFire } = await call<Schedule>(host, `${URL}/${scheduleId}`);
    if (lastFire && lastFire.runId !== after) return lastFire;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function runsByTick(host: HostProcess): Promise<Map<string, number>> {
  const ticks = new Map<string, number>();
  const { runs } = await call(host, '/v1/host/gantry/runs?limit=200&workflowId=beat');
  for (const { runId } of runs) {
    const { events } = await call(host, `/v1/runs/${runId}/events/poll`);
    const { causationId } = events[0]!;
    ticks.set(causationId, (ticks.get(causationId) ?? 0) + 1);
  }
  return ticks;
}

test('a trigger of a folder definition fires by itself, also after a kill', async (t) => {
  const workflowsDir = await folderWith(t, '* * * * * *');
  const options = { dataDir: path.join(workflowsDir, 'data'), workflowsDir };
  const first = await startHostProcess(options);
  const { schedules } = await call(first, URL);
  assert.deepEqual([schedules.length, schedules[0]!.triggerId], [1, 'clock']);
  const { scheduleId } = schedules[0]!;
  const fired = await nextFire(first, scheduleId, undefined);
  await first.kill();
  const second = await startHostProcess(options);
  await nextFire(second, scheduleId, fired.runId);
  for (const [tick, count] of await runsByTick(second)) assert.equal(count, 1, tick);
  await second.stop();
});

test('two hosts on one database fire each tick once', async (t) => {
  const database = await freshDatabase();
  if ('skip' in database) {
    t.skip(database.skip);
    return;
  }
  t.after(database.drop);
  const workflowsDir = await folderWith(t, '* * * * * *');
  const start = (name: string) =>
    startHostProcess({
      dataDir: path.join(workflowsDir, name),
      workflowsDir,
      env: { GANTRY_DATABASE_URL: database.url, GANTRY_MASTER_KEY: 'a'.repeat(64) },
    });
  const first = await start('first');
  const second = await start('second');
  const { scheduleId } = (await call(first, URL)).schedules[0]!;
  // One that only the other process hears of.
  const made = await call<Schedule>(second, URL, { workflowId: 'beat', delayMs: 1_500 });
  let last: string | undefined;
  for (let i = 0; i < 3; i++) last = (await nextFire(first, scheduleId, last)).runId;
  await nextFire(first, made.scheduleId, undefined);
  for (const [tick, count] of await runsByTick(second)) assert.equal(count, 1, tick);
  await first.kill();
  await nextFire(second, scheduleId, last);
  await second.stop();
});
