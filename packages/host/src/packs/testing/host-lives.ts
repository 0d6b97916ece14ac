/** Hosts in processes of their own that run packs and are killed. */
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import type { TestContext } from 'node:test';
import type { JsonObject, RunEventDoc, WorkflowDefinition } from '@gantry/protocol';
import { TEST_KEY, temporaryFolder } from '../../testing/host-process.ts';
import { grantingSurfaces, packArchive, type TestPack } from './pack-archive.ts';

/** Folders for a host that outlive its process. */
export async function hostPlaces(t: TestContext, env: Readonly<Record<string, string>>) {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const workflowsDir = `${folder.path}/workflows`;
  await mkdir(workflowsDir);
  return { dataDir: `${folder.path}/data`, workflowsDir, env };
}

/** Polls until something holds of the log. */
export async function until(
  poll: (cursor: string) => Promise<{ events: RunEventDoc[]; lastEventSeq: number; isTerminal: boolean }>,
  holds: (events: readonly RunEventDoc[], ended: boolean) => boolean,
): Promise<RunEventDoc[]> {
  const events: RunEventDoc[] = [];
  for (let last = -1; ; ) {
    const answer = await poll(last < 0 ? '' : `&lastSequence=${last}`);
    events.push(...answer.events);
    if (holds(events, answer.isTerminal)) return events;
    assert.ok(answer.lastEventSeq > last && !answer.isTerminal, 'the run came to a standstill');
    last = answer.lastEventSeq;
  }
}

export function caller(url: string) {
  const headers = { authorization: `Bearer ${TEST_KEY}` };
  const send = async (
    path: string,
    payload: string | Uint8Array<ArrayBuffer>,
    type = 'application/json',
  ): Promise<JsonObject> => {
    const init = { method: 'POST', body: payload, headers: { ...headers, 'content-type': type } };
    const response = await fetch(url + path, init);
    assert.ok(response.ok, await response.clone().text());
    return response.json() as Promise<JsonObject>;
  };
  const read = async <Body>(path: string): Promise<Body> => {
    const response = await fetch(url + path, { headers });
    assert.ok(response.ok, await response.clone().text());
    return response.json() as Promise<Body>;
  };
  return {
    send,
    read,
    async remove(path: string): Promise<void> {
      const response = await fetch(url + path, { method: 'DELETE', headers });
      assert.ok(response.ok, await response.text());
    },
    /** Grants the network, files and the surfaces that the code calls. */
    async install(packs: readonly TestPack[], flows: readonly WorkflowDefinition[]): Promise<void> {
      for (const pack of packs) {
        const archive = new Uint8Array((await packArchive(pack)).bytes);
        const query = await grantingSurfaces(archive, '?grant=net.outbound,fs.write');
        await send(`/v1/host/gantry/packs${query}`, archive, 'application/gzip');
      }
      for (const flow of flows) await send('/v1/host/gantry/workflows', JSON.stringify(flow));
    },
    start: async (workflowId: string): Promise<string> =>
      String((await send('/v1/runs', JSON.stringify({ workflowId }))).runId),
    deadLetters: async (): Promise<JsonObject[]> =>
      (await read<{ deadLetters: JsonObject[] }>('/v1/host/gantry/dead-letters')).deadLetters,
    poll: (runId: unknown) => (cursor: string) =>
      read<{ events: RunEventDoc[]; lastEventSeq: number; isTerminal: boolean }>(
        `/v1/runs/${runId}/events/poll?timeout=60${cursor}`,
      ),
  };
}
