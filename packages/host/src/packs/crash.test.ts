/** The host, or the process of a pack, dies in the middle of a node. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject, RunEventDoc } from '@gantry/protocol';
import { node, workflow } from '../testing/definitions.ts';
import { startHostProcess } from '../testing/host-process.ts';
import { caller, hostPlaces, until } from './testing/host-lives.ts';
import { packTest } from './testing/pack-test.ts';

/** Says that it acts, and goes on until it is let go. */
const body = `
  await ctx.emit({ type: 'acting' });
  while (!(await ctx.storage.kv.get({ key: 'go' })).found) await new Promise((done) => setTimeout(done, 100));
  return { done: true };`;
const counting = `await ctx.storage.kv.atomicIncrement({ key: 'visits' });${body.replace('done: true', "done: (await ctx.storage.kv.get({ key: 'visits' })).value === 1")}`;
/** Takes one of the stock: seen at first as 0, left as -1. */
const taking = `
  const { kv } = ctx.storage;
  const { value: before = 0 } = await kv.get({ key: 'stock' });
  if (before === 0) await kv.put({ key: 'stock', value: -1 });
  else await kv.compareAndSwap({ key: 'stock', expectedValue: before, newValue: before - 1 });
  ${body.replace('done: true', "before, left: (await kv.get({ key: 'stock' })).value")}`;
const calling = `return { status: (await ctx.invokeSubWorkflow({ workflowRef: 'child' })).status };`;
/** One pack may write files, so nobody knows what it did; the other acts through the host alone. */
const PACKS = [
  {
    name: 'vendor.acme.free',
    requires: ['fs.write'],
    nodes: {
      'vendor.acme.act': { body, role: 'side-effect' },
      'vendor.acme.look': { body, role: 'pure' },
    },
  },
  { name: 'vendor.acme.kept', nodes: { 'vendor.acme.count': { body: counting, role: 'side-effect' } } },
  { name: 'vendor.acme.stock', nodes: { 'vendor.acme.take': { body: taking, role: 'side-effect' } } },
  { name: 'vendor.acme.parent', nodes: { 'vendor.acme.call': { body: calling, role: 'side-effect' } } },
  {
    name: 'vendor.acme.door',
    nodes: {
      'vendor.acme.go': {
        body: `await ctx.storage.kv.put({ key: 'go', value: 1 }); return {};`,
        role: 'side-effect',
      },
    },
  },
];
const flows = [
  ...['act', 'look', 'count', 'take', 'call', 'go'].map((id) =>
    workflow(id, [node('a', `vendor.acme.${id}`)]),
  ),
  workflow('child', [node('x', 'core.delay', { delayMs: 1_000 })]),
];

/** They wait for the test, on a machine that may be busy. */
const PACK_TIMEOUT_SECONDS = 250;

const isDispatched = ({ type }: RunEventDoc): boolean => type === 'node.dispatched';
const isActing = ({ payload }: RunEventDoc): boolean => payload.message === 'acting';

/** One host is killed while a node of each kind acts; the next one lets them go on to their end. */
async function killedHost(t: TestContext) {
  const places = await hostPlaces(t, { GANTRY_PACK_TIMEOUT_SECONDS: String(PACK_TIMEOUT_SECONDS) });
  const first = await startHostProcess(places);
  const api = caller(first.url);
  await api.install(PACKS, flows);
  const runIds = new Map<string, unknown>();
  for (const id of ['act', 'look', 'count', 'take', 'call']) {
    const { runId } = await api.send('/v1/runs', JSON.stringify({ workflowId: id }));
    runIds.set(id, runId);
    await until(api.poll(runId), (events) => events.some(id === 'call' ? isDispatched : isActing));
  }
  const children = childrenOf(first.child.pid!);
  assert.ok(children.length > 0);
  await first.kill();
  const second = await startHostProcess(places);
  t.after(() => second.stop());
  const next = caller(second.url);
  await next.send('/v1/runs', JSON.stringify({ workflowId: 'go' }));
  return { children, eventsOf: (id: string) => until(next.poll(runIds.get(id)), (_, ended) => ended) };
}

const outcomeOf = (events: readonly RunEventDoc[]): unknown[] => {
  const last = events.at(-1)!;
  return [last.type, (last.payload.error as JsonObject | undefined)?.code, events.filter(isActing).length];
};

test('kill -9 of the host', async (t) => {
  const { children, eventsOf } = await killedHost(t);
  await t.test('a node that acts is in doubt, and never run twice', async () => {
    assert.deepEqual(outcomeOf(await eventsOf('act')), ['run.failed', 'effect_in_doubt', 1]);
    for (let tries = 0; children.some(isAlive); tries++) {
      assert.ok(tries < 1_000, 'a pack process outlived its host');
      await delay(20);
    }
  });
  await t.test('a node that only looks is run again', async () => {
    assert.deepEqual(outcomeOf(await eventsOf('look')), ['run.completed', undefined, 2]);
  });
  await t.test('a node that acts through the host is run again, and counts once', async () => {
    const events = await eventsOf('count');
    assert.deepEqual(outcomeOf(events), ['run.completed', undefined, 2]);
    assert.deepEqual(events.at(-1)?.payload.outputs, { done: true });
  });
  await t.test(
    'a node that wrote what it made of a read reads the same, and writes nothing twice',
    async () => {
      const events = await eventsOf('take');
      assert.deepEqual(events.at(-1)?.payload.outputs, { before: 0, left: -1 });
    },
  );
  await t.test('a child that pack code waits for goes on, and its end is heard once', async () => {
    const events = await eventsOf('call');
    const count = (type: string) => events.filter((event) => event.type === type).length;
    assert.deepEqual([count('node.started'), count('node.dispatched'), count('node.completed')], [1, 1, 1]);
    assert.deepEqual(events.at(-1)?.payload.outputs, { status: 'completed' });
  });
});

test('kill -9 of the pack processes', async (t) => {
  const api = await packTest(t, { settings: { packTimeoutSeconds: PACK_TIMEOUT_SECONDS } });
  for (const pack of PACKS) await api.install(pack, '?grant=fs.write');
  for (const flow of flows) await api.registered(flow);
  const before = new Set(childrenOf(process.pid));
  const poll = (runId: string) => async (cursor: string) =>
    (await api.get(`/v1/runs/${runId}/events/poll?timeout=60${cursor}`)).json();
  const runIds = new Map<string, string>();
  for (const id of ['act', 'look', 'count']) {
    const runId = await api.start(id);
    runIds.set(id, runId);
    await until(poll(runId), (events) => events.some(isActing));
  }
  for (const pid of childrenOf(process.pid)) if (!before.has(pid)) process.kill(pid, 'SIGKILL');
  await api.start('go');
  for (const [id, expected] of [
    ['act', ['run.failed', 'effect_in_doubt', 1]],
    ['look', ['run.completed', undefined, 2]],
    ['count', ['run.completed', undefined, 2]],
  ] as const)
    await t.test(id, async () => {
      const events = await until(poll(runIds.get(id)!), (_, ended) => ended);
      assert.deepEqual(outcomeOf(events), expected);
    });
});

/** Nothing of a process or a thread that has just ended. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    textOf(`/proc/${pid}/task/${thread}/children`).split(' ').filter(Boolean).map(Number),
  );
}

const isAlive = (pid: number): boolean => /\) [^Z] /.test(textOf(`/proc/${pid}/stat`));
