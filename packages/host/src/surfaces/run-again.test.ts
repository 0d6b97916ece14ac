/** Nodes that read, write what they made of it, and run again: after an answer, after a failure, after kill -9. */
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { test } from 'node:test';
import type { JsonObject, RunEventDoc } from '@gantry/protocol';
import { packArchive } from '../packs/testing/pack-archive.ts';
import { packTest } from '../packs/testing/pack-test.ts';
import { node, workflow } from '../testing/definitions.ts';
import { startHostProcess, TEST_KEY, temporaryFolder } from '../testing/host-process.ts';

const TYPE = 'vendor.acme.take';
/** Takes one of the stock: seen at first as 0, left as -1. */
const TAKE = `
  const { kv } = ctx.storage;
  const { value: before = 0 } = await kv.get({ key: 'stock' });
  const swapped = before === 0
    ? await kv.put({ key: 'stock', value: -1 })
    : await kv.compareAndSwap({ key: 'stock', expectedValue: before, newValue: before - 1 });
`;
const LEFT = `return { before, left: (await kv.get({ key: 'stock' })).value };`;

test('a node that asks somebody after it wrote goes on with the answer', async (t) => {
  const api = await packTest(t);
  const body = `${TAKE} await ctx.suspend({ kind: 'approval', prompt: 'Ship?' }); ${LEFT}`;
  await api.install({ nodes: { [TYPE]: { body, role: 'side-effect' } } });
  await api.registered(workflow('one', [node('a', TYPE)]));
  const runId = await api.start('one');
  await api.asks(runId);
  const answered = await api.post(`/v1/runs/${runId}/interrupts/a`, { resumeValue: { action: 'accept' } });
  assert.equal(answered.statusCode, 200, answered.body);
  const run = await api.ended(runId);
  assert.deepEqual(
    [run.status, run.outputs],
    ['completed', { before: 0, left: -1 }],
    JSON.stringify(run.error),
  );
});

test('a node that fails after it wrote is tried again with what it read', async (t) => {
  const api = await packTest(t);
  const body = `${TAKE}
    if (ctx.attempt === 0) throw Object.assign(new Error('flaky'), { retryable: true });
    ${LEFT}`;
  await api.install({ nodes: { [TYPE]: { body, role: 'side-effect' } } });
  await api.registered(workflow('one', [{ ...node('a', TYPE), settings: { maxRetries: 1, backoffMs: 0 } }]));
  const run = await api.ended(await api.start('one'));
  assert.deepEqual(
    [run.status, run.outputs],
    ['completed', { before: 0, left: -1 }],
    JSON.stringify(run.error),
  );
});

const headers = { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' };

async function post(
  url: string,
  body: string | Uint8Array<ArrayBuffer>,
  type = 'application/json',
): Promise<JsonObject> {
  const response = await fetch(url, { method: 'POST', body, headers: { ...headers, 'content-type': type } });
  assert.ok(response.ok, await response.clone().text());
  return response.json() as Promise<JsonObject>;
}

/** Polls until an event of this type is in the log. */
async function until(run: string, type: string): Promise<void> {
  for (let last = -1; ; ) {
    const cursor = last < 0 ? '' : `&lastSequence=${last}`;
    const response = await fetch(`${run}/events/poll?timeout=60${cursor}`, { headers });
    const answer = (await response.json()) as { events: RunEventDoc[]; lastEventSeq: number };
    if (answer.events.some((event) => event.type === type)) return;
    assert.ok(answer.lastEventSeq > last, 'the run came to a standstill');
    last = answer.lastEventSeq;
  }
}

test('kill -9 after it wrote: it reads the same and writes nothing twice', async (t) => {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  await mkdir(`${folder.path}/workflows`);
  const places = { dataDir: `${folder.path}/data`, workflowsDir: `${folder.path}/workflows` };
  const GO = 'vendor.acme.go';
  const body = `${TAKE} ctx.log('info', 'written');
    while ((await kv.get({ key: 'go' })).value !== true) await new Promise((resolve) => setTimeout(resolve, 20));
    ${LEFT}`;
  const go = `await ctx.storage.kv.put({ key: 'go', value: true }); return {};`;
  const nodes = { [TYPE]: { body, role: 'side-effect' }, [GO]: { body: go, role: 'side-effect' } } as const;
  const first = await startHostProcess(places);
  const { bytes } = await packArchive({ nodes });
  await post(
    `${first.url}/v1/host/gantry/packs?grant=host.kvStorage,host.tableStorage,host.sql,host.nosql,host.queueBus`,
    new Uint8Array(bytes),
    'application/gzip',
  );
  for (const flow of [workflow('one', [node('a', TYPE)]), workflow('go', [node('b', GO)])])
    await post(`${first.url}/v1/host/gantry/workflows`, JSON.stringify(flow));
  const { runId } = await post(`${first.url}/v1/runs`, JSON.stringify({ workflowId: 'one' }));
  await until(`${first.url}/v1/runs/${runId}`, 'log.appended');
  await first.kill();
  const second = await startHostProcess(places);
  t.after(() => second.stop());
  await post(`${second.url}/v1/runs`, JSON.stringify({ workflowId: 'go' }));
  await until(`${second.url}/v1/runs/${runId}`, 'run.completed');
  const response = await fetch(`${second.url}/v1/runs/${runId}`, { headers });
  const run = (await response.json()) as JsonObject;
  assert.deepEqual(run.outputs, { before: 0, left: -1 });
});
