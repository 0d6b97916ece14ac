/** Webhooks of a whole host: told once the event is on disk, also by the process that comes after a crash. */
import assert from 'node:assert/strict';
import { cp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { node, workflow } from '../testing/definitions.ts';
import { startHostProcess, TEST_KEY, temporaryFolder } from '../testing/host-process.ts';
import { receiver } from './testing/receiver.ts';

async function hostWithWebhooks(t: TestContext) {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const definition = workflow('three', [node('a', 'core.noop'), node('b', 'core.noop')]);
  await writeFile(path.join(folder.path, 'three.json'), JSON.stringify(definition));
  const gated = workflow('gated', [node('gate', 'core.approvalGate', { title: 'Go on?' })]);
  await writeFile(path.join(folder.path, 'gated.json'), JSON.stringify(gated));
  const dataDir = path.join(folder.path, 'data');
  const start = async () => {
    const host = await startHostProcess({
      dataDir,
      workflowsDir: folder.path,
      env: { GANTRY_EGRESS_ALLOW: 'webhook=http://127.0.0.1:*' },
    });
    t.after(() => host.kill());
    const post = async (url: string, body: object): Promise<Record<string, unknown>> => {
      const response = await fetch(`${host.url}${url}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      assert.ok(response.ok, await response.clone().text());
      return (await response.json()) as Record<string, unknown>;
    };
    return { host, post };
  };
  return { start, dataDir };
}

type Started = Awaited<ReturnType<Awaited<ReturnType<typeof hostWithWebhooks>>['start']>>;

async function replayIsSilent(t: TestContext, { post }: Started): Promise<void> {
  const { url, got } = await receiver(t);
  await post('/v1/webhooks', { url, events: ['run.completed'] });
  const { runId } = await post('/v1/runs', { workflowId: 'three' });
  await post(`/v1/runs/${String(runId)}:fork`, { mode: 'replay' });
  const branch = await post(`/v1/runs/${String(runId)}:fork`, { mode: 'branch', fromSeq: 2 });
  const told = (await got(2)).map(({ body }) => JSON.parse(body).runId);
  assert.deepEqual(told.sort(), [runId, branch.runId].sort());
}

async function nextOneTells(t: TestContext, first: Started, start: () => Promise<Started>): Promise<Started> {
  const { url, got } = await receiver(t);
  await first.post('/v1/webhooks', { url, events: ['run.completed'], durable: true });
  const runIds: unknown[] = [];
  for (let i = 0; i < 20; i++) runIds.push((await first.post('/v1/runs', { workflowId: 'three' })).runId);
  await first.host.kill();
  const second = await start();
  const told = new Set<unknown>();
  for (let count = runIds.length; told.size < runIds.length; count++)
    for (const { body } of await got(count)) told.add(JSON.parse(body).runId);
  assert.deepEqual([...told].sort(), runIds.sort());
  return second;
}

async function restoredRepeats(
  t: TestContext,
  first: Started,
  start: () => Promise<Started>,
  dataDir: string,
) {
  const { url, received, got } = await receiver(t);
  await first.post('/v1/webhooks', { url, events: ['*'] });
  const { runId } = await first.post('/v1/runs', { workflowId: 'gated' });
  const isTold = async (type: string, count: number) => {
    const told = () => received.filter(({ body }) => JSON.parse(body).type === type).length;
    while (told() < count) await got(received.length + 1);
  };
  await isTold('node.suspended', 1);
  await first.host.stop();
  await cp(dataDir, `${dataDir}-backup`, { recursive: true });
  const goOn = async (count: number): Promise<string[]> => {
    const before = received.length;
    const { host, post } = await start();
    await post(`/v1/runs/${String(runId)}/interrupts/gate`, { resumeValue: { action: 'accept' } });
    await isTold('run.completed', count);
    await host.kill();
    return received.slice(before).map(({ headers }) => String(headers['x-openwop-delivery-id']));
  };
  const ids = await goOn(1);
  await rm(dataDir, { recursive: true });
  await cp(`${dataDir}-backup`, dataDir, { recursive: true });
  assert.deepEqual(await goOn(2), ids);
}

test('webhooks of one host after another', async (t) => {
  const { start, dataDir } = await hostWithWebhooks(t);
  const first = await start();
  await t.test('a run tells its subscriber, a replay of it tells nobody', () => replayIsSilent(t, first));
  await t.test('what a killed host had not told yet, the next one tells', async (inner) => {
    const second = await nextOneTells(t, first, start);
    await inner.test('what a host restored from a backup tells again has the ids of the first time', () =>
      restoredRepeats(t, second, start, dataDir),
    );
  });
});
