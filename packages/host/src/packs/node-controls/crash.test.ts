/** The host dies while pack code waits for a child. */
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { test } from 'node:test';
import type { JsonObject, RunEventDoc } from '@gantry/protocol';
import { node, workflow } from '../../testing/definitions.ts';
import { startHostProcess, TEST_KEY, temporaryFolder } from '../../testing/host-process.ts';
import { packArchive } from '../testing/pack-archive.ts';

const TYPE = 'vendor.acme.call';
const body = `return { status: (await ctx.invokeSubWorkflow({ workflowRef: 'child' })).status };`;
const flows = [
  workflow('one', [node('a', TYPE)]),
  workflow('child', [node('x', 'core.delay', { delayMs: 1_000 })]),
];

const headers = { authorization: `Bearer ${TEST_KEY}` };

async function send(
  url: string,
  payload: string | Uint8Array<ArrayBuffer>,
  type = 'application/json',
): Promise<JsonObject> {
  const init = { method: 'POST', body: payload, headers: { ...headers, 'content-type': type } };
  const response = await fetch(url, init);
  assert.ok(response.ok, await response.clone().text());
  return response.json() as Promise<JsonObject>;
}

/** Polls until an event of this type is in the log. */
async function until(run: string, type: string): Promise<RunEventDoc[]> {
  const events: RunEventDoc[] = [];
  for (let last = -1; !events.some((event) => event.type === type); ) {
    const cursor = last < 0 ? '' : `&lastSequence=${last}`;
    const response = await fetch(`${run}/events/poll?timeout=60${cursor}`, { headers });
    const answer = (await response.json()) as { events: RunEventDoc[]; lastEventSeq: number };
    assert.ok(answer.lastEventSeq > last, 'the run came to a standstill');
    events.push(...answer.events);
    last = answer.lastEventSeq;
  }
  return events;
}

test('kill -9 of the host: the child goes on, and its end is heard once', async (t) => {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  await mkdir(`${folder.path}/workflows`);
  const places = { dataDir: `${folder.path}/data`, workflowsDir: `${folder.path}/workflows` };
  const first = await startHostProcess(places);
  const { bytes } = await packArchive({ nodes: { [TYPE]: { body, role: 'side-effect' } } });
  await send(`${first.url}/v1/host/gantry/packs`, new Uint8Array(bytes), 'application/gzip');
  for (const flow of flows) await send(`${first.url}/v1/host/gantry/workflows`, JSON.stringify(flow));
  const { runId } = await send(`${first.url}/v1/runs`, JSON.stringify({ workflowId: 'one' }));
  await until(`${first.url}/v1/runs/${runId}`, 'node.dispatched');
  await first.kill();
  const second = await startHostProcess(places);
  t.after(() => second.stop());
  const events = await until(`${second.url}/v1/runs/${runId}`, 'run.completed');
  const count = (type: string) => events.filter((event) => event.type === type).length;
  assert.deepEqual([count('node.started'), count('node.dispatched'), count('node.completed')], [1, 1, 1]);
  assert.deepEqual(events.at(-1)?.payload.outputs, { status: 'completed' });
});
