/**
 * One tenant floods the host; another hardly notices. The short form counts what the other one still gets done; with
 * GANTRY_SOAK_ROUNDS its API is timed too, in so many pairs of quiet and flooded spells for each way.
 */
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject } from '@gantry/protocol';
import { nameServer } from '../../../egress/src/testing/name-server.ts';
import { node, workflow } from '../testing/definitions.ts';
import { startHostProcess, TEST_KEY, temporaryFolder } from '../testing/host-process.ts';
import { FLOOD_GRANTS, floodArchives, WAYS, type Way } from './testing/flood-packs.ts';
import { packArchive } from './testing/pack-archive.ts';

const PAIRS = Number(process.env.GANTRY_SOAK_ROUNDS ?? 0);
/** As many as one tenant may have at work. */
const RUNS = PAIRS > 0 ? 16 : 3;
const READS = PAIRS > 0 ? 60 : 10;
const SCOPES = [
  'runs:create',
  'runs:read',
  'runs:cancel',
  'packs:install',
  'packs:read',
  'workflows:write',
  'manifest:read',
];

type Call = (method: string, path: string, body?: JsonObject | Uint8Array) => Promise<JsonObject>;

const caller =
  (url: string, key: string): Call =>
  async (method, path, body) => {
    const isBytes = body instanceof Uint8Array;
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body && { 'content-type': isBytes ? 'application/gzip' : 'application/json' }),
      },
      ...(body && { body: isBytes ? new Uint8Array(body) : JSON.stringify(body) }),
    });
    const text = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${text.slice(0, 500)}`);
    return JSON.parse(text);
  };

async function ended(call: Call, runId: unknown): Promise<void> {
  for (let last = -1; ; ) {
    const cursor = last < 0 ? '' : `&lastSequence=${last}`;
    const { isTerminal, lastEventSeq } = await call(
      'GET',
      `/v1/runs/${runId}/events/poll?timeout=30${cursor}`,
    );
    if (isTerminal === true) return;
    last = Number(lastEventSeq);
  }
}

/** Keeps so many runs going until it is stopped. Asks for little itself: what it is told would slow this process. */
function flood(call: Call, way: Way): () => Promise<void> {
  let isStopped = false;
  const running = async (): Promise<readonly JsonObject[]> =>
    (await call('GET', '/v1/host/gantry/runs?status=running&limit=50')).runs as JsonObject[];
  const going = (async () => {
    while (!isStopped) {
      const missing = RUNS - (await running()).length;
      for (let runs = 0; runs < missing; runs++) await call('POST', '/v1/runs', { workflowId: way });
      await delay(100);
    }
    for (let left = await running(); left.length > 0; left = await running())
      for (const { runId } of left) await call('POST', `/v1/runs/${runId}/cancel`, {}).catch(() => {});
  })();
  return async () => {
    isStopped = true;
    await going;
  };
}

async function host(t: TestContext): Promise<{ noisy: Call; quiet: Call }> {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  await mkdir(`${folder.path}/workflows`);
  const { address } = await nameServer(t);
  const env = { GANTRY_DNS_SERVERS: address, GANTRY_PACK_TIMEOUT_SECONDS: '30' };
  const { url, stop } = await startHostProcess({
    dataDir: `${folder.path}/data`,
    workflowsDir: `${folder.path}/workflows`,
    env,
  });
  t.after(stop);
  const admin = caller(url, TEST_KEY);
  const tenant = async (name: string): Promise<Call> => {
    const { key } = await admin('POST', '/v1/host/gantry/keys', { name, tenant: name, scopes: SCOPES });
    return caller(url, String(key));
  };
  return { noisy: await tenant('noisy'), quiet: await tenant('quiet') };
}

async function prepared(t: TestContext): Promise<{ noisy: Call; quiet: Call }> {
  const { noisy, quiet } = await host(t);
  for (const archive of await floodArchives())
    await noisy('POST', `/v1/host/gantry/packs${FLOOD_GRANTS}`, archive);
  for (const way of WAYS)
    await noisy('POST', '/v1/host/gantry/workflows', {
      ...workflow(way, [node('a', `vendor.flood.${way}`)]),
    } as JsonObject);
  const { bytes } = await packArchive({
    name: 'vendor.quiet.add',
    nodes: { 'vendor.quiet.add': { body: 'return { sum: 1 + 1 };' } },
  });
  await quiet('POST', '/v1/host/gantry/packs', bytes);
  await quiet('POST', '/v1/host/gantry/workflows', {
    ...workflow('add', [node('a', 'vendor.quiet.add')]),
  } as JsonObject);
  return { noisy, quiet };
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** The p50 of reading a run, in milliseconds. */
async function readMs(quiet: Call, runId: unknown): Promise<number> {
  const times: number[] = [];
  for (let reads = 0; reads < READS; reads++) {
    const startedAt = performance.now();
    await quiet('GET', `/v1/runs/${runId}`);
    times.push(performance.now() - startedAt);
    await delay(PAIRS > 0 ? 10 : 0);
  }
  return median(times);
}

async function added(quiet: Call): Promise<unknown> {
  const { runId } = await quiet('POST', '/v1/runs', { workflowId: 'add' });
  await ended(quiet, runId);
  const { status } = await quiet('GET', `/v1/runs/${runId}`);
  assert.equal(status, 'completed');
  return runId;
}

test('while one tenant floods the host, another reads its runs and its pack calls end', async (t) => {
  const { noisy, quiet } = await prepared(t);
  const only = process.env.GANTRY_FLOOD;
  for (const way of WAYS.filter((one) => only === undefined || one === only))
    await t.test(way, async (each) => {
      const runId = await added(quiet);
      const pairs: { idleMs: number; floodedMs: number }[] = [];
      for (let pair = 0; pair < Math.max(1, PAIRS); pair++) {
        const idleMs = await readMs(quiet, runId);
        const stop = flood(noisy, way);
        await delay(PAIRS > 0 ? 1_500 : 100);
        const floodedMs = await readMs(quiet, runId);
        await added(quiet);
        await stop();
        pairs.push({ idleMs, floodedMs });
        await delay(PAIRS > 0 ? 500 : 0);
      }
      if (PAIRS === 0) return;
      const part = median(pairs.map(({ idleMs, floodedMs }) => floodedMs / Math.max(3 * idleMs, 15)));
      const of = (name: 'idleMs' | 'floodedMs') => median(pairs.map((pair) => pair[name])).toFixed(1);
      each.diagnostic(
        `${way}: p50 ${of('idleMs')} ms idle, ${of('floodedMs')} ms flooded, ${part.toFixed(2)} of the limit`,
      );
      assert.ok(part <= 1, `${way}: ${part.toFixed(2)} of the limit`);
    });
});
