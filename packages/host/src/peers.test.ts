/** Two hosts on one database, one with a clock that is 30 s ahead; then one of them is killed. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { createClient } from '@gantry/client';
import { freshDatabase } from '../../store/src/testing/postgres-server.ts';
import { node, workflow } from './testing/definitions.ts';
import { startHostProcess, TEST_KEY, temporaryFolder } from './testing/host-process.ts';

const AHEAD_MS = 30_000;
const SHIFT = `const { now } = Date; Date.now = () => now() + ${AHEAD_MS};`;
const DELAY_MS = 3_000;
/** Less than the lease of a process that was just killed has left. */
const TAKE_OVER_MS_MAX = 10_000;
const effects = node('act', 'core.conformance.side-effect', { effects: 100, idempotent: true });
const definitions = [
  workflow('delayed', [node('wait', 'core.delay', { delayMs: DELAY_MS })]),
  workflow(
    'endless',
    Array.from({ length: 60 }, (_, index) => ({ ...effects, id: `act-${index}` })),
  ),
];

test('a clock that is ahead fires and claims nothing early; a killed host is replaced before its lease ends', async (t) => {
  const database = await freshDatabase();
  if ('skip' in database) {
    t.skip(database.skip);
    return;
  }
  const folder = await temporaryFolder();
  for (const each of definitions)
    await writeFile(path.join(folder.path, `${each.id}.json`), JSON.stringify(each));
  const start = (name: string, env: Record<string, string> = {}) =>
    startHostProcess({
      dataDir: path.join(folder.path, name),
      workflowsDir: folder.path,
      env: { GANTRY_DATABASE_URL: database.url, GANTRY_MASTER_KEY: 'm'.repeat(32), ...env },
    });
  const [exact, ahead] = await Promise.all([
    start('exact'),
    start('ahead', { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(SHIFT)}` }),
  ]);
  t.after(async () => {
    await Promise.all([exact.kill(), ahead.kill()]);
    await database.drop();
    await folder.remove();
  });
  const here = createClient({ baseUrl: exact.url, apiKey: TEST_KEY });
  const there = createClient({ baseUrl: ahead.url, apiKey: TEST_KEY });

  const ready = (await (await fetch(`${ahead.url}/readyz`)).json()) as { clockSkewMs: number };
  assert.ok(Math.abs(ready.clockSkewMs - AHEAD_MS) < AHEAD_MS / 2, `a skew of ${ready.clockSkewMs} ms`);
  const beganMs = performance.now();
  const { runId } = await here.runs.create({ workflowId: 'delayed' });
  assert.equal((await there.runs.wait(runId)).status, 'completed');
  assert.ok(performance.now() - beganMs >= DELAY_MS - 100, 'the delay was cut short');

  const busy = await here.runs.create({ workflowId: 'endless' });
  const before = await there.runs.poll(busy.runId, { lastSequence: 2, timeoutSeconds: 30 });
  assert.equal(before.runStatus, 'running');
  await exact.kill();
  const killedMs = performance.now();
  const { lastEventSeq } = await there.runs.poll(busy.runId, { timeoutSeconds: 1 });
  const after = await there.runs.poll(busy.runId, { lastSequence: lastEventSeq, timeoutSeconds: 60 });
  const tookMs = performance.now() - killedMs;
  assert.ok(after.events.length > 0);
  assert.ok(tookMs < TAKE_OVER_MS_MAX, `taken over after ${Math.round(tookMs)} ms`);
  t.diagnostic(`first new event after ${Math.round(tookMs)} ms`);
});
