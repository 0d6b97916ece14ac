/** Pause and resume while work is outside the process. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { openSqlite, type Store } from '@gantry/store';
import { edge, node, workflow } from '../testing/definitions.ts';
import { temporaryFolder } from '../testing/host-process.ts';
import { type TestHost, testHost } from '../testing/test-host.ts';

const EFFECTS = 60;
const effects = workflow('effects', [
  node('act', 'core.conformance.side-effect', { effects: EFFECTS }),
  node('after', 'core.noop'),
]);
const headers = { 'content-type': 'application/json' };

const post = async (host: TestHost, url: string, body: unknown) =>
  host.request({ method: 'POST', url, payload: JSON.stringify(body), headers });

async function endOf(host: TestHost, runId: string): Promise<string> {
  for (;;) {
    const poll = await host.request({ url: `/v1/runs/${runId}/events/poll?lastSequence=100000&timeout=60` });
    if (poll.json().isTerminal) return poll.json().runStatus;
  }
}

for (const drainPolicy of ['drain-current-node', 'immediate']) {
  test(`paused (${drainPolicy}) in the middle of effects, a run repeats and loses none`, async (t) => {
    const host = await testHost(t, { workflows: [effects] });
    const { runId } = (await post(host, '/v1/runs', { workflowId: 'effects' })).json();
    const paused = await post(host, `/v1/runs/${runId}:pause`, { drainPolicy });
    assert.equal(paused.statusCode, 202, paused.body);
    assert.equal((await host.request({ url: `/v1/runs/${runId}` })).json().status, 'paused');
    const resumed = await post(host, `/v1/runs/${runId}:resume`, {});
    assert.equal(resumed.statusCode, 202, resumed.body);
    assert.equal(await endOf(host, runId), 'completed');

    const { events } = (await host.request({ url: `/v1/runs/${runId}/events/poll` })).json();
    const types: string[] = events.map((event: { type: string }) => event.type);
    assert.equal(types[types.indexOf('run.paused') + 1], 'run.resumed', types.join(' '));
    const log = await readFile(path.join(host.dataDir, 'side-effects.log'), 'utf8');
    const ids = log
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).invocationId);
    assert.equal(ids.length, EFFECTS);
    assert.equal(new Set(ids).size, EFFECTS);
  });
}

const waiting = (delayMs: number) =>
  workflow('waiting', [node('wait', 'core.delay', { delayMs }), node('after', 'core.noop')], {
    edges: [edge('wait', 'after')],
  });
const typesOf = async (host: TestHost, runId: string): Promise<string[]> =>
  (await host.request({ url: `/v1/runs/${runId}/events/poll` }))
    .json()
    .events.map((event: { type: string }) => event.type);

test('a pause lets the node under way end first, and starts no other', async (t) => {
  const host = await testHost(t, { workflows: [waiting(300)] });
  const { runId } = (await post(host, '/v1/runs', { workflowId: 'waiting' })).json();
  const paused = await post(host, `/v1/runs/${runId}:pause`, {});
  assert.deepEqual([paused.statusCode, paused.json().status], [202, 'paused']);
  const types = await typesOf(host, runId);
  assert.deepEqual(types.slice(-2), ['node.completed', 'run.paused'], types.join(' '));
  assert.equal((await post(host, `/v1/runs/${runId}:resume`, {})).statusCode, 202);
  assert.equal(await endOf(host, runId), 'completed');
});

test('an immediate pause waits for nothing; of two that wait, one is the first', async (t) => {
  const host = await testHost(t, { workflows: [waiting(300)] });
  const start = async () => (await post(host, '/v1/runs', { workflowId: 'waiting' })).json().runId;
  const [slow, quick] = [await start(), await start()];
  const immediate = await post(host, `/v1/runs/${quick}:pause`, { drainPolicy: 'immediate' });
  assert.equal(immediate.statusCode, 202);
  assert.ok(!(await typesOf(host, quick)).includes('node.completed'));
  const pauses = [1, 2].map(() => post(host, `/v1/runs/${slow}:pause`, {}));
  const statuses = (await Promise.all(pauses)).map(({ statusCode }) => statusCode);
  assert.deepEqual(statuses.sort(), [202, 409]);
});

test('a cancel does not wait for a pause that does', async (t) => {
  const host = await testHost(t, { workflows: [waiting(60_000)] });
  const { runId } = (await post(host, '/v1/runs', { workflowId: 'waiting' })).json();
  const pausing = post(host, `/v1/runs/${runId}:pause`, {});
  assert.equal((await post(host, `/v1/runs/${runId}/cancel`, {})).json().status, 'cancelled');
  assert.equal((await pausing).statusCode, 409);
});

test('a cancelled run stops its effects and says so at once', async (t) => {
  const host = await testHost(t, { workflows: [effects] });
  const { runId } = (await post(host, '/v1/runs', { workflowId: 'effects' })).json();
  const cancelled = await post(host, `/v1/runs/${runId}/cancel`, { reason: 'enough' });
  assert.deepEqual(cancelled.json(), { runId, status: 'cancelled' });
  const { events } = (await host.request({ url: `/v1/runs/${runId}/events/poll` })).json();
  assert.deepEqual(
    events.slice(-2).map((event: { type: string }) => event.type),
    ['node.cancelled', 'run.cancelled'],
  );
});

const gate = node('gate', 'core.approvalGate', { title: 'Go on?', actions: ['accept', 'reject'] });
const sub = (id: string) => node(id, 'core.subWorkflow', { workflowId: 'asks' });
const family = [
  workflow('asks', [gate]),
  workflow('parent', [sub('one'), sub('two'), sub('three')], { edges: [] }),
];

/** Answers the open questions of all runs but `runId`, and follows those to their end. */
async function answerChildren(host: TestHost, runId: string): Promise<void> {
  const { interrupts } = (await host.request({ url: '/v1/host/gantry/interrupts' })).json();
  assert.equal(interrupts.length, 3);
  for (const { runId: child, nodeId } of interrupts) {
    assert.notEqual(child, runId);
    const url = `/v1/runs/${child}/interrupts/${nodeId}`;
    const answered = await post(host, url, { resumeValue: { action: 'accept' } });
    assert.equal(answered.statusCode, 200, answered.body);
    await endOf(host, child);
  }
}

for (const [verb, status] of [
  [':resume', 'completed'],
  ['/cancel', 'cancelled'],
] as const)
  test(`reports of children to a paused parent are not due, and read after ${verb}`, async (t) => {
    const folder = await temporaryFolder();
    const store: Store = await openSqlite({ dataDir: folder.path });
    const host = await testHost(t, { workflows: family, store });
    t.after(folder.remove);
    const { runId } = (await post(host, '/v1/runs', { workflowId: 'parent' })).json();
    await allAsked(host);
    assert.equal((await post(host, `/v1/runs/${runId}:pause`, {})).statusCode, 202);
    await answerChildren(host, runId);
    await until(async () => (await store.entries.nextDueAt('mail')) === null);
    assert.equal(await store.entries.count('mail', 'default'), 3);
    assert.ok((await post(host, `/v1/runs/${runId}${verb}`, {})).statusCode < 300);
    assert.equal(await endOf(host, runId), status);
    await until(async () => (await store.entries.count('mail', 'default')) === 0);
  });

const allAsked = (host: TestHost): Promise<void> =>
  until(
    async () => (await host.request({ url: '/v1/host/gantry/interrupts' })).json().interrupts.length === 3,
  );

/** Each look is a read of the store, so this does not spin. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo()));
}
