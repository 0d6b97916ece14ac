/**
 * Every list, and a create with `X-Dedup`, on a host with 120,000 runs beside one with few: `npm run soak -- lists`.
 * A round asks both hosts in turns, so that a busy machine slows both.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Entry, openPostgres, openSqlite, type Store, type Write } from '@gantry/store';
import { freshDatabase } from '../../../store/src/testing/postgres-server.ts';
import { type ApiTest, apiTest, slow, three } from '../api/testing/api-test.ts';
import { LOCAL_RECEIVERS, receiver } from '../webhooks/testing/receiver.ts';
import { node, workflow } from './definitions.ts';
import { temporaryFolder } from './host-process.ts';

const ROUNDS = Number(process.env.GANTRY_SOAK_ROUNDS ?? 9);
const MANY = Number(process.env.GANTRY_SOAK_RUNS ?? 120_000);
const FEW = 500;
const REQUESTS = 20;
const SLOWER_MAX = 2;
const BATCH = 500;
/** Runs in these states are as many in both hosts, so that a page of them is as long. */
const RARE = 120;
const TENANT = 'default';
const STATUSES = ['completed', 'failed', 'waiting-approval', 'running'];

const retries = { settings: { maxRetries: 1, backoffMs: 0 } };
const fails = workflow('fails', [node('a', 'core.fail', { code: 'out_of_stock' }, retries)]);
const asks = workflow('asks', [node('gate', 'core.approvalGate', { title: 'Go on?', actions: ['accept'] })]);

async function commitAll(store: Store, groups: readonly (readonly Write[])[]): Promise<void> {
  for (let at = 0; at < groups.length; at += BATCH)
    for (const { won } of await store.commit(groups.slice(at, at + BATCH))) assert.ok(won);
}

/** Ids of copies sort below those that the host makes. */
const idOf = (prefix: string, n: number): string => `${prefix}_00${String(n).padStart(24, '0')}`;

/** Copies of a run, spread over the history. */
async function copyRuns(store: Store, runId: string, count: number, among: number): Promise<void> {
  const loaded = await store.runs.load(TENANT, runId);
  assert.ok(loaded);
  const { status, owner, wakeAt, endedAt, nextSeq: _, ...facts } = loaded.row;
  const head = { status, owner, wakeAt, endedAt };
  const step = among / count;
  await commitAll(
    store,
    Array.from({ length: count }, (_, i) => {
      const n = Math.floor(i * step) * STATUSES.length + STATUSES.indexOf(status);
      const scopeId = i % 10 === 0 ? `scope-${n}` : null;
      const copy = { ...facts, runId: idOf('run', n), scopeId };
      if (status === 'completed') copy.workflowId = i % 4 === 0 ? 'three' : `w${i % 50}`;
      return [{ kind: 'createRun', facts: copy, head, events: loaded.tail }];
    }),
  );
}

async function copyEntries(store: Store, kind: string, count: number): Promise<void> {
  const [first] = await store.entries.list(kind, TENANT, { limit: 1 });
  assert.ok(first, kind);
  const { version: _, ...entry }: Entry = first;
  await commitAll(
    store,
    Array.from({ length: count }, (_, i) => [
      { kind: 'putEntry', entry: { ...entry, id: idOf('x', i) }, expectedVersion: null },
    ]),
  );
}

interface Filled {
  readonly api: ApiTest;
  readonly lists: readonly string[];
}

/** One of everything through the API, then copies of what grows with runs. */
async function filled(t: TestContext, store: Store, runs: number, settings: object): Promise<Filled> {
  const { url, got } = await receiver(t);
  const api = await apiTest(t, { store, settings, workflows: [three, slow, fails, asks] });
  const post = async (path: string, body: object) => {
    const response = await api.post(path, body);
    assert.ok(response.statusCode < 300, response.body);
    return response.json();
  };
  const events = ['run.completed'];
  const { webhookId } = await post('/v1/webhooks', { url, events, durable: true });
  await post('/v1/host/gantry/schedules', { workflowId: 'three', cron: '0 0 1 1 *' });
  const trigger = { source: 'webhook', workflowId: 'three', verification: { mode: 'none' } };
  const { subscription, binding } = await post('/v1/trigger-subscriptions', trigger);
  await post(new URL(binding.ingestUrl).pathname, { n: 1 });
  const [done, failed, asking, waiting] = [
    await api.start('three'),
    await api.start('fails'),
    await api.start('asks'),
    await api.start('slow'),
  ];
  await Promise.all([api.ended(done), api.ended(failed), got(2)]);
  for (let found = 0; found === 0; )
    found = (await store.entries.list('delivery-delivered', TENANT, { limit: 1 })).length;
  await copyRuns(store, failed, RARE, runs);
  await copyRuns(store, asking, RARE, runs);
  await copyRuns(store, waiting, RARE, runs);
  await copyRuns(store, done, runs, runs);
  for (const kind of ['dead-letter', 'delivery-delivered', 'trigger-delivery'])
    await copyEntries(store, kind, Math.max(RARE, runs / 6));
  const list = '/v1/host/gantry/runs';
  return {
    api,
    lists: [
      list,
      ...STATUSES.map((status) => `${list}?status=${status}`),
      `${list}?workflowId=fails`,
      `${list}?workflowId=three&status=completed`,
      `${list}?workflowId=unknown`,
      `${list}?before=${idOf('run', runs * 2)}`,
      '/v1/host/gantry/interrupts',
      '/v1/host/gantry/dead-letters',
      '/v1/host/gantry/schedules',
      '/v1/host/gantry/heartbeats',
      '/v1/host/gantry/workflows',
      '/v1/webhooks',
      `/v1/host/gantry/webhooks/${webhookId}/deliveries`,
      '/v1/trigger-subscriptions',
      `/v1/host/gantry/trigger-subscriptions/${subscription.subscriptionId}/deliveries`,
    ],
  };
}

let scopes = 0;

async function timed({ api, lists }: Filled, at: number): Promise<number> {
  const url = lists[at];
  const beganMs = performance.now();
  for (let i = 0; i < REQUESTS; i++) {
    const response =
      url === undefined
        ? await api.post(
            '/v1/runs',
            { workflowId: 'slow', scopeId: `new-${scopes++}` },
            { 'x-dedup': 'enforce' },
          )
        : await api.get(url);
    assert.ok(response.statusCode < 300, `${url}: ${response.body}`);
  }
  return (performance.now() - beganMs) / REQUESTS;
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

async function compare(t: TestContext, few: Filled, many: Filled): Promise<void> {
  const slower: string[] = [];
  for (let at = 0; at <= few.lists.length; at++) {
    const times: [number[], number[]] = [[], []];
    await timed(few, at);
    await timed(many, at);
    for (let round = 0; round < ROUNDS; round++) {
      times[0].push(await timed(few, at));
      times[1].push(await timed(many, at));
    }
    const [small, large] = times.map(median) as [number, number];
    const line = `${few.lists[at]?.replace(/[a-z]+_[0-9a-z]{20,}/, 'ID') ?? 'create with X-Dedup'}: ${small.toFixed(2)} ms, ${large.toFixed(2)} ms`;
    t.diagnostic(line);
    if (large > SLOWER_MAX * small) slower.push(line);
  }
  assert.deepEqual(slower, []);
}

test(`lists of ${MANY} runs on SQLite`, async (t) => {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const open = (name: string) => openSqlite({ dataDir: `${folder.path}/${name}` });
  const settings = { egressAllow: LOCAL_RECEIVERS };
  await compare(
    t,
    await filled(t, await open('few'), FEW, settings),
    await filled(t, await open('many'), MANY, settings),
  );
});

test(`lists of ${MANY} runs on PostgreSQL`, async (t) => {
  const databases = [await freshDatabase(), await freshDatabase()] as const;
  const settings = { egressAllow: LOCAL_RECEIVERS, masterKey: 'm'.repeat(64) };
  const [few, many] = databases;
  if ('skip' in few || 'skip' in many) return t.skip('no PostgreSQL');
  // After the hosts, which are stopped in the order in which they were started
  const both = [
    await filled(t, await openPostgres(few), FEW, { ...settings, databaseUrl: few.url }),
    await filled(t, await openPostgres(many), MANY, { ...settings, databaseUrl: many.url }),
  ] as const;
  t.after(() => Promise.all([few.drop(), many.drop()]));
  await compare(t, ...both);
});
