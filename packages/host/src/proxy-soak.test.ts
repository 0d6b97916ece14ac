/**
 * Several hosts, each behind a proxy to one PostgreSQL that cuts, delays, drops answers and falls silent by a seed.
 * Every round has a seed of its own: `npm run soak -- proxy [rounds]` does as many from GANTRY_PROXY_SEED on.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '@gantry/protocol';
import {
  type Failure,
  mulberry,
  openProxy,
  type PostgresProxy,
} from '../../store/src/testing/postgres-proxy.ts';
import { freshDatabase } from '../../store/src/testing/postgres-server.ts';
import { node, workflow } from './testing/definitions.ts';
import { type TestHost, testHost } from './testing/test-host.ts';
import { LOCAL_RECEIVERS, type Receiver, receiver } from './webhooks/testing/receiver.ts';

const ROUNDS = Number(process.env.GANTRY_SOAK_ROUNDS ?? 1);
const FIRST_SEED = Number(process.env.GANTRY_PROXY_SEED ?? Date.now() % 1_000_000);
/** Rounds of one cluster. */
const CLUSTER_ROUNDS = 10;
const OPERATIONS = 12;
/** A busy machine takes long too, but ends; what stands still does not. */
const STANDSTILL_MS_MAX = 120_000;
const COMMIT_SHARE = 0.25;
const STATEMENT_SHARE = 0.01;
/** Of the statements; not of the time, in which a busy machine would do nothing but connect. */
const CUT_ALL_SHARE = 0.005;
/** Of the seeds: a silent connection is given up after the 15 s that a statement has. */
const SILENT_EVERY = 5;

const gate = node('gate', 'core.approvalGate', { title: 'Go on?', actions: ['accept', 'reject'] });
const act = (id: string) => node(id, 'core.conformance.side-effect', { effects: 2 });
const sub = (id: string) => node(id, 'core.subWorkflow', { workflowId: 'child' });
const WORKFLOWS = [
  workflow('acts', [act('act')]),
  workflow('child', [act('act')]),
  workflow('parent', [sub('one'), sub('two')], { edges: [] }),
  workflow('asks', [gate, act('act')]),
  workflow('delayed', [node('wait', 'core.delay', { delayMs: 100 }), act('act')]),
  workflow('tick', [act('act')]),
  workflow('event', [act('act')]),
];
/** Effects of a run of each, with those of its children. */
const EFFECTS: Readonly<Record<string, number>> = {
  acts: 2,
  parent: 4,
  asks: 2,
  delayed: 2,
  tick: 2,
  event: 2,
};
/** Runs of these are started by the host: by a schedule, and by an event from outside. */
const STARTED = ['tick', 'event'] as const;
type Started = Record<(typeof STARTED)[number], number>;
type Random = () => number;
const pick = <T>(random: Random, of: readonly T[]): T => of[Math.floor(random() * of.length)]!;

interface Cluster {
  readonly hosts: readonly TestHost[];
  readonly proxies: readonly PostgresProxy[];
  /** Of the round. */
  random: Random;
  /** Runs that were acknowledged, and their workflow. */
  readonly runs: Map<string, string>;
  readonly started: Started;
  ingestUrl: string;
}

async function start(t: TestContext, url: string, count: number): Promise<Cluster> {
  const proxies: PostgresProxy[] = [];
  const hosts: TestHost[] = [];
  for (let i = 0; i < count; i++) {
    const proxy = await openProxy(url);
    proxies.push(proxy);
    const settings = { databaseUrl: proxy.url, masterKey: 'm'.repeat(64), egressAllow: LOCAL_RECEIVERS };
    hosts.push(await testHost(t, { settings, ...(i === 0 && { workflows: WORKFLOWS }) }));
  }
  const started = { tick: 0, event: 0 };
  return { hosts, proxies, random: mulberry(0), runs: new Map(), started, ingestUrl: '' };
}

function faults(random: Random, proxy: PostgresProxy): (statement: string) => Failure | null {
  const failures: readonly Failure[] = ['cut-before', 'drop-answer'];
  return (statement) => {
    if (random() < CUT_ALL_SHARE) setImmediate(() => proxy.cut());
    const share = /^commit/.test(statement) ? COMMIT_SHARE : STATEMENT_SHARE;
    return random() < share ? pick(random, failures) : null;
  };
}

let keys = 0;

/** Repeats a request with the same key, at any host, until it is answered for good. */
async function send({ hosts, random }: Cluster, url: string, body: object): Promise<JsonObject> {
  const headers = { 'content-type': 'application/json', 'idempotency-key': `key-${keys++}` };
  for (;;) {
    const request = { method: 'POST', url, payload: JSON.stringify(body), headers } as const;
    const response = await pick(random, hosts).request(request);
    const { statusCode } = response;
    if (statusCode < 300) return response.json();
    assert.equal(statusCode, 503, `${url}: ${response.body}`);
    await sleep(20);
  }
}

async function create(cluster: Cluster, workflowId: string): Promise<string> {
  const runId = String((await send(cluster, '/v1/runs', { workflowId })).runId);
  cluster.runs.set(runId, workflowId);
  return runId;
}

const OPERATION: readonly ((cluster: Cluster) => Promise<unknown>)[] = [
  (cluster) => create(cluster, 'acts'),
  (cluster) => create(cluster, 'parent'),
  (cluster) => create(cluster, 'delayed'),
  async (cluster) => {
    const runId = await create(cluster, 'asks');
    await send(cluster, `/v1/runs/${runId}/interrupts/gate`, { resumeValue: { action: 'accept' } });
  },
  async (cluster) => {
    const source = await create(cluster, 'acts');
    const { runId } = await send(cluster, `/v1/runs/${source}:fork`, { mode: 'branch', fromSeq: 0 });
    cluster.runs.set(String(runId), 'acts');
  },
  async (cluster) => {
    await send(cluster, '/v1/host/gantry/schedules', { workflowId: 'tick', delayMs: 50 });
    cluster.started.tick++;
  },
  async (cluster) => {
    await send(cluster, cluster.ingestUrl, { n: keys });
    cluster.started.event++;
  },
];

async function round(cluster: Cluster, falls: 'silent' | null): Promise<void> {
  const { proxies, random } = cluster;
  for (const proxy of proxies) {
    proxy.failEach(faults(random, proxy));
    proxy.delay(Math.floor(random() * 3));
  }
  const under = Array.from({ length: OPERATIONS }, () => pick(random, OPERATION));
  if (falls === 'silent') pick(random, proxies).silence();
  await Promise.all(under.map((operation) => operation(cluster)));
  for (const proxy of proxies) {
    proxy.failEach(null);
    proxy.delay(0);
  }
}

interface Listed {
  readonly runId: string;
  readonly status: string;
  readonly workflowId: string;
}

async function listed({ hosts: [host] }: Cluster): Promise<Listed[] | null> {
  const found: Listed[] = [];
  for (let cursor = ''; ; ) {
    const response = await host!.request({ url: `/v1/host/gantry/runs?limit=100${cursor}` });
    // A connection may still be found out to be lost
    if (response.statusCode === 503) return null;
    assert.equal(response.statusCode, 200, response.body);
    const { runs, nextBefore } = response.json();
    found.push(...runs);
    if (!nextBefore) return found;
    cursor = `&before=${nextBefore}`;
  }
}

/** Looks until everything has ended, from when the network is well. */
async function ended(cluster: Cluster, isAll: (runs: readonly Listed[]) => boolean): Promise<Listed[]> {
  const until = performance.now() + STANDSTILL_MS_MAX;
  for (;;) {
    const runs = await listed(cluster);
    const open = runs?.filter(({ status }) => !/^(completed|failed|cancelled)$/.test(status));
    if (runs && open?.length === 0 && isAll(runs)) return runs;
    assert.ok(performance.now() < until, `standing still: ${JSON.stringify(open)}, ${runs?.length} runs`);
    await sleep(100);
  }
}

/** The receiver has heard of the end of every run. */
async function reported({ received }: Receiver, runs: readonly Listed[]): Promise<void> {
  const until = performance.now() + STANDSTILL_MS_MAX;
  for (;;) {
    const heard = new Set(received.map(({ body }) => JSON.parse(body).runId));
    const missing = runs.filter(({ runId }) => !heard.has(runId));
    if (missing.length === 0) return;
    assert.ok(performance.now() < until, `not delivered: ${JSON.stringify(missing)}`);
    await sleep(20);
  }
}

const count = (runs: readonly Listed[], id: string): number =>
  runs.filter(({ workflowId }) => workflowId === id).length;

async function effectsOf(hosts: readonly TestHost[]): Promise<string[]> {
  const logs = hosts.map(({ dataDir }) =>
    readFile(path.join(dataDir, 'side-effects.log'), 'utf8').catch(() => ''),
  );
  return (await Promise.all(logs)).join('').split('\n').filter(Boolean);
}

/** What the hosts have done is what was acknowledged, once. */
async function check(
  { runs: acknowledged, hosts, started }: Cluster,
  runs: readonly Listed[],
): Promise<void> {
  for (const { runId, status } of runs)
    if (status !== 'completed')
      assert.fail(`${status}: ${(await hosts[0]!.request({ url: `/v1/runs/${runId}` })).body}`);
  const ids = new Set(runs.map(({ runId }) => runId));
  for (const runId of acknowledged.keys()) assert.ok(ids.has(runId), `${runId} is lost`);
  for (const id of STARTED) assert.equal(count(runs, id), started[id], `runs of ${id}`);
  const byHost = started.tick + started.event;
  assert.equal(count(runs, 'child'), 2 * count(runs, 'parent'), 'children');
  assert.equal(runs.length, acknowledged.size + byHost + count(runs, 'child'), 'runs');
  const effects = await effectsOf(hosts);
  const wanted = [...acknowledged.values()].reduce((sum, id) => sum + EFFECTS[id]!, 2 * byHost);
  assert.equal(effects.length, wanted, 'effects');
}

for (let first = 0; first < ROUNDS; first += CLUSTER_ROUNDS) {
  const seeds = Array.from(
    { length: Math.min(CLUSTER_ROUNDS, ROUNDS - first) },
    (_, i) => FIRST_SEED + first + i,
  );
  test(`a bad network loses nothing and doubles nothing (seeds ${seeds[0]} to ${seeds.at(-1)})`, async (t) => {
    const database = await freshDatabase();
    if ('skip' in database) {
      t.skip(database.skip);
      return;
    }
    const hears = await receiver(t);
    const cluster = await start(t, database.url, 2 + ((seeds[0]! / CLUSTER_ROUNDS) & 1));
    t.after(() => Promise.all(cluster.proxies.map((proxy) => proxy.close())));
    t.after(database.drop);
    const { hosts, started } = cluster;
    await send(cluster, '/v1/webhooks', { url: hears.url, events: ['run.completed'], durable: true });
    const trigger = { source: 'webhook', workflowId: 'event', verification: { mode: 'none' } };
    const { binding } = await send(cluster, '/v1/trigger-subscriptions', trigger);
    cluster.ingestUrl = new URL(String((binding as JsonObject).ingestUrl)).pathname;
    for (const seed of seeds) {
      const beganMs = performance.now();
      cluster.random = mulberry(seed);
      try {
        await round(cluster, seed % SILENT_EVERY === SILENT_EVERY - 1 ? 'silent' : null);
        const runs = await ended(cluster, (all) => STARTED.every((id) => count(all, id) >= started[id]));
        await check(cluster, runs);
        await reported(hears, runs);
        const tookS = Math.round((performance.now() - beganMs) / 1_000);
        const made = cluster.proxies.reduce((sum, { connectionsMade }) => sum + connectionsMade, 0);
        console.log(
          `seed ${seed}: ${hosts.length} hosts, ${runs.length} runs and ${made} connections so far, ${tookS} s`,
        );
      } catch (error) {
        console.log(`seed ${seed} failed: ${error}`);
        throw error;
      }
    }
  });
}
