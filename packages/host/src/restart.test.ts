/** What a restart must not lose: timers, paused runs, keys. And what must not start twice. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Client, createClient } from '@gantry/client';
import { node, variable, workflow } from './testing/definitions.ts';
import { type HostProcess, startHostProcess, TEST_KEY, temporaryFolder } from './testing/host-process.ts';

const delayed = workflow(
  'delayed',
  [node('wait', 'core.delay', {}, { inputs: { delayMs: variable('delayMs') } }), node('after', 'core.noop')],
  { variables: [{ name: 'delayMs', type: 'number', defaultValue: 100 }] },
);

/** Goes nowhere before somebody answers, whatever becomes of its delay. */
const held = workflow(
  'held',
  [node('wait', 'core.delay', { delayMs: 300 }), node('gate', 'core.approvalGate', { title: 'Go on?' })],
  { edges: [] },
);

type Started = { readonly host: HostProcess; readonly client: Client };

async function setUp(t: TestContext) {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  for (const each of [delayed, held])
    await writeFile(path.join(folder.path, `${each.id}.json`), JSON.stringify(each));
  const options = { dataDir: path.join(folder.path, 'data'), workflowsDir: folder.path };
  const start = async (env: Record<string, string> = {}): Promise<Started> => {
    const host = await startHostProcess({ ...options, env });
    t.after(host.kill);
    return { host, client: createClient({ baseUrl: host.url, apiKey: TEST_KEY }) };
  };
  return { start, options };
}

async function delayEnded({ client }: Started, runId: string): Promise<void> {
  assert.equal((await client.runs.wait(runId)).status, 'completed');
  const { events } = await client.runs.poll(runId);
  const started = events.find((event) => event.type === 'node.started' && event.nodeId === 'wait');
  const completed = events.find((event) => event.type === 'node.completed' && event.nodeId === 'wait');
  assert.ok(started && completed);
  assert.ok(Date.parse(completed.timestamp) - Date.parse(started.timestamp) >= 300);
  assert.equal(events.filter((event) => event.type === 'node.started' && event.nodeId === 'wait').length, 1);
}

async function goesOn({ client }: Started, runId: string): Promise<void> {
  assert.equal((await client.runs.get(runId)).status, 'paused');
  await client.runs.resume(runId);
  await client.interrupts.resolve(runId, 'gate', { action: 'accept' });
  assert.equal((await client.runs.wait(runId)).status, 'completed');
}

async function newestFirst({ host, client }: Started): Promise<void> {
  const after: string[] = [];
  for (let i = 0; i < 3; i++) after.push((await client.runs.create({ workflowId: 'delayed' })).runId);
  const response = await fetch(`${host.url}/v1/host/gantry/runs`, {
    headers: { authorization: `Bearer ${TEST_KEY}` },
  });
  const { runs } = (await response.json()) as { runs: { runId: string }[] };
  assert.deepEqual(
    runs.slice(0, 3).map(({ runId }) => runId),
    after.toReversed(),
  );
  assert.equal(runs.length, 6);
}

test('one process after another on a data folder', async (t) => {
  const { start, options } = await setUp(t);
  const first = await start();
  await t.test('a second process at the same time is refused and the first goes on', async () => {
    await assert.rejects(startHostProcess(options), (error: Error) => {
      assert.match(error.message, /data/);
      return true;
    });
    const { runId } = await first.client.runs.create({ workflowId: 'delayed', inputs: { delayMs: 1 } });
    assert.equal((await first.client.runs.wait(runId)).status, 'completed');
  });
  const { runId: due } = await first.client.runs.create({ workflowId: 'delayed', inputs: { delayMs: 300 } });
  await first.host.kill();
  const second = await start();
  await t.test('a delay that falls due while the host is down ends after the restart', () =>
    delayEnded(second, due),
  );
  const { runId: paused } = await second.client.runs.create({ workflowId: 'held' });
  await second.client.runs.pause(paused, { reason: 'restart test' });
  assert.equal(await second.host.stop(), 0);
  const third = await start();
  await t.test('a paused run stays paused over a restart and goes on when resumed', () =>
    goesOn(third, paused),
  );
  await third.host.kill();
  const back = 'const { now } = Date; Date.now = () => now() - 3_600_000;';
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(back)}`;
  const fourth = await start({ NODE_OPTIONS });
  await t.test('after a restart with the clock set back the newest run is still first', () =>
    newestFirst(fourth),
  );
});
