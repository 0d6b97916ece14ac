/** What a restart must not lose: timers, paused runs, keys. And what must not start twice. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { createClient } from '@gantry/client';
import { node, variable, workflow } from './testing/definitions.ts';
import { startHostProcess, TEST_KEY, temporaryFolder } from './testing/host-process.ts';

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

async function setUp(t: TestContext) {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  for (const each of [delayed, held])
    await writeFile(path.join(folder.path, `${each.id}.json`), JSON.stringify(each));
  const options = { dataDir: path.join(folder.path, 'data'), workflowsDir: folder.path };
  const start = async () => {
    const host = await startHostProcess(options);
    t.after(host.kill);
    return { host, client: createClient({ baseUrl: host.url, apiKey: TEST_KEY }) };
  };
  return { start, options };
}

test('a delay that falls due while the host is down ends after the restart', async (t) => {
  const { start } = await setUp(t);
  const first = await start();
  const { runId } = await first.client.runs.create({ workflowId: 'delayed', inputs: { delayMs: 300 } });
  await first.host.kill();
  const second = await start();
  assert.equal((await second.client.runs.wait(runId)).status, 'completed');
  const { events } = await second.client.runs.poll(runId);
  const started = events.find((event) => event.type === 'node.started' && event.nodeId === 'wait');
  const completed = events.find((event) => event.type === 'node.completed' && event.nodeId === 'wait');
  assert.ok(started && completed);
  assert.ok(Date.parse(completed.timestamp) - Date.parse(started.timestamp) >= 300);
  assert.equal(events.filter((event) => event.type === 'node.started' && event.nodeId === 'wait').length, 1);
  await second.host.stop();
});

test('a paused run stays paused over a restart and goes on when resumed', async (t) => {
  const { start } = await setUp(t);
  const first = await start();
  const { runId } = await first.client.runs.create({ workflowId: 'held' });
  await first.client.runs.pause(runId, { reason: 'restart test' });
  assert.equal(await first.host.stop(), 0);
  const second = await start();
  assert.equal((await second.client.runs.get(runId)).status, 'paused');
  await second.client.runs.resume(runId);
  await second.client.interrupts.resolve(runId, 'gate', { action: 'accept' });
  assert.equal((await second.client.runs.wait(runId)).status, 'completed');
  await second.host.stop();
});

test('a second process on the same data folder is refused and the first goes on', async (t) => {
  const { start, options } = await setUp(t);
  const first = await start();
  await assert.rejects(startHostProcess(options), (error: Error) => {
    assert.match(error.message, /data/);
    return true;
  });
  const { runId } = await first.client.runs.create({ workflowId: 'delayed', inputs: { delayMs: 1 } });
  assert.equal((await first.client.runs.wait(runId)).status, 'completed');
  await first.host.stop();
});
