/**
 * Two hosts on one database, one with a clock that is 30 s ahead; then one of them is killed. With many runs in
 * `npm run soak -- peers`.
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { type Client, createClient } from '@gantry/client';
import { freshDatabase } from '../../store/src/testing/postgres-server.ts';
import { node, workflow } from './testing/definitions.ts';
import { type HostProcess, startHostProcess, TEST_KEY, temporaryFolder } from './testing/host-process.ts';

const AHEAD_MS = 30_000;
const SHIFT = `const { now } = Date; Date.now = () => now() + ${AHEAD_MS};`;
const IS_SOAK = process.env.GANTRY_SOAK_ROUNDS !== undefined;
const DELAY_MS = IS_SOAK ? 20_000 : 3_000;
const DELAYED = IS_SOAK ? 30 : 2;
const BUSY = IS_SOAK ? 70 : 1;
/** Less than the lease of a process that was just killed has left. */
const TAKE_OVER_MS_MAX = IS_SOAK ? 8_000 : 10_000;
const TRIES_MAX = IS_SOAK ? 1 : 3;
const act = node('act', 'core.conformance.side-effect', { effects: 2 });
const effects = node('act', 'core.conformance.side-effect', {
  effects: IS_SOAK ? 5 : 100,
  idempotent: true,
});
const definitions = [
  workflow('delayed', [act, node('wait', 'core.delay', { delayMs: DELAY_MS }), { ...act, id: 'again' }]),
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
  const delayed = Array.from({ length: DELAYED }, async (_, index) => {
    const [one, other] = index % 2 === 0 ? [here, there] : [there, here];
    const { runId } = await one.runs.create({ workflowId: 'delayed' });
    const { status } = await other.runs.wait(runId);
    const { events } = await other.runs.poll(runId);
    const [began, ended] = ['node.started', 'node.completed'].map((type) =>
      Date.parse(events.find((event) => event.type === type && event.nodeId === 'wait')!.timestamp),
    );
    return { status, tookMs: ended! - began! };
  });
  const beganMs = performance.now();
  const results = await Promise.all(delayed);
  assert.ok(performance.now() - beganMs >= DELAY_MS - 100, 'a delay was cut short');
  const lateMs: number[] = [];
  for (const { status, tookMs } of results) {
    assert.equal(status, 'completed');
    assert.ok(tookMs >= DELAY_MS, `a delay of ${tookMs} ms`);
    lateMs.push(tookMs - DELAY_MS);
  }
  t.diagnostic(`${DELAYED} delays of ${DELAY_MS} ms, at most ${Math.max(...lateMs)} ms late`);

  // A busy machine may be late once; a process that waited for the lease would be each time
  let tookMs = Number.POSITIVE_INFINITY;
  for (let tries = 0; tookMs > TAKE_OVER_MS_MAX && tries < TRIES_MAX; tries++)
    tookMs = await takeOver(tries === 0 ? exact : await start(`exact-${tries}`), there);
  assert.ok(tookMs < TAKE_OVER_MS_MAX, `taken over after ${tookMs} ms`);
  t.diagnostic(`first new event of each of ${BUSY} runs within ${tookMs} ms`);
});

/** Kills a host amid runs; answers how long after that the other one has worked on each of them. */
async function takeOver(host: HostProcess, there: Client): Promise<number> {
  const here = createClient({ baseUrl: host.url, apiKey: TEST_KEY });
  const busy: string[] = [];
  for (let i = 0; i < BUSY; i++) busy.push((await here.runs.create({ workflowId: 'endless' })).runId);
  for (const runId of busy) await there.runs.poll(runId, { lastSequence: 2, timeoutSeconds: 30 });
  await host.kill();
  const killedMs = performance.now();
  const took = busy.map(async (runId) => {
    const { lastEventSeq, isTerminal } = await there.runs.poll(runId, { timeoutSeconds: 1 });
    assert.ok(!isTerminal, 'it ended before the other process was killed');
    const after = await there.runs.poll(runId, { lastSequence: lastEventSeq, timeoutSeconds: 60 });
    assert.ok(after.events.length > 0);
    return performance.now() - killedMs;
  });
  const tookMs = Math.round(Math.max(...(await Promise.all(took))));
  for (const runId of busy) await there.runs.cancel(runId);
  return tookMs;
}
