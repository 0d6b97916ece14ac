/**
 * Several hosts, each behind a proxy to one PostgreSQL that cuts, delays, drops answers and falls silent by a seed.
 * `npm run soak -- proxy [rounds]` for long; GANTRY_PROXY_SEED repeats one.
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
import { receiver } from './webhooks/testing/receiver.ts';

const ROUNDS = Number(process.env.GANTRY_SOAK_ROUNDS ?? 2);
const SEED = Number(process.env.GANTRY_PROXY_SEED ?? Date.now() % 1_000_000);
const OPERATIONS = 12;
const STANDSTILL_MS_MAX = 20_000;
const COMMIT_SHARE = 0.25;
const STATEMENT_SHARE = 0.01;
/** Rounds: a silent connection is given up after the 15 s that a statement has. */
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
  readonly random: Random;
  /** Runs that were acknowledged, and their workflow. */
  readonly runs: Map<string, string>;
  readonly started: Started;
  ingestUrl: string;
}

async function start(t: TestContext, url: string, count: number, random: Random): Promise<Cluster> {
  const proxies: PostgresProxy[] = [];
  const hosts: TestHost[] = [];
  for (let i = 0; i < count; i++) {
    const proxy = await openProxy(url);
    proxies.push(proxy);
    const settings = { databaseUrl: proxy.url, masterKey: 'm'.repeat(64), webhooksLoopback: true };
    hosts.push(await testHost(t, { settings, ...(i === 0 && { workflows: WORKFLOWS }) }));
  }
  return { hosts, proxies, random, runs: new Map(), started: { tick: 0, event: 0 }, ingestUrl: '' };
}

function faults(random: Random): (statement: string) => Failure | null {
  const failures: readonly Failure[] = ['cut-before', 'drop-answer'];
  return (statement) => {
    const share = /^commit/.test(statement) ? COMMIT_SHARE : STATEMENT_SHARE;
    return random() < share ? pick(random, failures) : null;
  };
}

let keys = 0;

/** Repeats a request with the same key, at any host, until it is answered for good. */
async function send({ hosts, random }: Cluster, url: string, body: object): Promise<JsonObject> {
  const headers = { 'content-type': 'application/json', 'idempotency-key': `key-${SEED}-${keys++}` };
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
    proxy.failEach(faults(random));
    proxy.delay(Math.floor(random() * 3));
  }
  const under = Array.from({ length: OPERATIONS }, () => pick(random, OPERATION));
  if (falls === 'silent') pick(random, proxies).silence();
  const cutting = setInterval(() => pick(random, proxies).cut(), 300);
  await Promise.all(under.map((operation) => operation(cluster))).finally(() => clearInterval(cutting));
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

async function listed({ hosts: [host] }: Cluster): Promise<Listed[]> {
  const found: Listed[] = [];
  for (let cursor = ''; ; ) {
    const response = await host!.request({ url: `/v1/host/gantry/runs?limit=100${cursor}` });
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
    const open = runs.filter(({ status }) => !/^(completed|failed|cancelled)$/.test(status));
    if (open.length === 0 && isAll(runs)) return runs;
    assert.ok(
      performance.now() < until,
      `seed ${SEED}: standing still: ${JSON.stringify(open)}, ${runs.length} runs`,
    );
    await sleep(100);
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

test(`a bad network loses nothing and doubles nothing (seed ${SEED})`, async (t) => {
  const database = await freshDatabase();
  if ('skip' in database) {
    t.skip(database.skip);
    return;
  }
  const random = mulberry(SEED);
  const { url, got } = await receiver(t);
  const cluster = await start(t, database.url, 2 + (SEED % 2), random);
  t.after(() => Promise.all(cluster.proxies.map((proxy) => proxy.close())));
  t.after(database.drop);
  const { runs: acknowledged, hosts, started } = cluster;
  await send(cluster, '/v1/webhooks', { url, events: ['run.completed'], durable: true });
  const trigger = { source: 'webhook', workflowId: 'event', verification: { mode: 'none' } };
  const { binding } = await send(cluster, '/v1/trigger-subscriptions', trigger);
  cluster.ingestUrl = new URL(String((binding as JsonObject).ingestUrl)).pathname;
  for (let done = 0; done < ROUNDS; done++) {
    await round(cluster, done % SILENT_EVERY === SILENT_EVERY - 1 ? 'silent' : null);
    const runs = await ended(cluster, (all) => STARTED.every((id) => count(all, id) >= started[id]));
    for (const { runId, status } of runs) assert.equal(status, 'completed', `seed ${SEED}: ${runId}`);
    const ids = new Set(runs.map(({ runId }) => runId));
    for (const runId of acknowledged.keys()) assert.ok(ids.has(runId), `seed ${SEED}: ${runId} is lost`);
    for (const id of STARTED) assert.equal(count(runs, id), started[id], `seed ${SEED}: runs of ${id}`);
    const byHost = started.tick + started.event;
    assert.equal(count(runs, 'child'), 2 * count(runs, 'parent'), `seed ${SEED}: children`);
    assert.equal(runs.length, acknowledged.size + byHost + count(runs, 'child'), `seed ${SEED}: runs`);
    const effects = await effectsOf(hosts);
    const wanted = [...acknowledged.values()].reduce((sum, id) => sum + EFFECTS[id]!, 2 * byHost);
    assert.equal(effects.length, wanted, `seed ${SEED}: effects`);
    const told = new Set<string>();
    for (let least = runs.length; told.size < runs.length; least++)
      for (const { body } of await got(least)) told.add(JSON.parse(body).runId);
  }
});
