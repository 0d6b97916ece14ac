/** Pack code that calls workflows, through the front door. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, RunEventDoc } from '@gantry/protocol';
import { assertPublic } from '../../api/testing/api-test.ts';
import { node, workflow } from '../../testing/definitions.ts';
import { onePerFile } from '../../testing/one-per-file.ts';
import { type PackTest, sharedPackTest } from '../testing/pack-test.ts';

const TYPE = 'vendor.acme.call';
const one = (config: JsonObject = {}, settings = {}) =>
  workflow('one', [node('a', TYPE, config, { settings })]);

const text = (name: string) => ({ name, type: 'string' }) as const;
const child = workflow('child', [node('x', 'core.noop')], { variables: [text('word')] });
const broken = workflow('broken', [node('x', 'core.fail')]);
const slow = workflow('slow', [node('x', 'core.delay', { delayMs: 3_600_000 })]);

async function started(body: string, definition = one()): Promise<[PackTest, string]> {
  const api = await openPacks();
  await api.install({ nodes: { [TYPE]: { body, role: 'side-effect' } } });
  for (const known of [child, broken, slow, definition]) await api.registered(known);
  return [api, await api.start(definition.id)];
}

const eventsOf = async (api: PackTest, runId: string): Promise<RunEventDoc[]> => {
  const { events } = (await api.get(`/v1/runs/${runId}/events/poll?timeout=1`)).json();
  for (const event of events) assertPublic('run-event.schema.json', event);
  return events;
};

/** Ids of the children, in the order of their start. */
const childrenOf = async (api: PackTest, runId: string): Promise<string[]> =>
  (await eventsOf(api, runId)).flatMap(({ type, payload }) =>
    type === 'node.dispatched' ? [String(payload.childRunId)] : [],
  );

/** Follows the run until it has started a child. */
async function firstChild(api: PackTest, runId: string): Promise<string> {
  for (let last = -1; ; ) {
    const [found] = await childrenOf(api, runId);
    if (found !== undefined) return found;
    const cursor = last < 0 ? '' : `&lastSequence=${last}`;
    const polled = (await api.get(`/v1/runs/${runId}/events/poll?timeout=60${cursor}`)).json();
    assert.ok(polled.lastEventSeq > last && !polled.isTerminal, JSON.stringify(polled));
    last = polled.lastEventSeq;
  }
}

const openPacks = onePerFile(sharedPackTest);

test('each call starts one child and gets its end, and the run is replayed without any', async () => {
  const body = `
    ctx.log('info', 'begin');
    const [first, second] = await Promise.all(['a', 'b'].map((word) =>
      ctx.invokeSubWorkflow({ workflowRef: 'child', inputs: { word } })));
    return { first, second };`;
  const [api, runId] = await started(body);
  const run = await api.ended(runId);
  assert.equal(run.status, 'completed', JSON.stringify(run));
  const { first, second } = run.outputs as { first: JsonObject; second: JsonObject };
  assert.deepEqual(await childrenOf(api, runId), [first.runId, second.runId]);
  assert.deepEqual([first.status, second.status], ['completed', 'completed']);
  for (const [{ runId: childRunId }, word] of [
    [first, 'a'],
    [second, 'b'],
  ] as const) {
    const seen = (await api.get(`/v1/runs/${childRunId}`)).json();
    assert.deepEqual([seen.parentRunId, seen.parentNodeId, seen.inputs], [runId, 'a', { word }]);
  }
  const fork = await api.post(`/v1/runs/${runId}:fork`, { mode: 'replay', fromSeq: 0 });
  const replayed = await api.ended(fork.json().runId);
  assert.deepEqual(replayed.outputs, run.outputs);
  const types = async (id: string) => (await eventsOf(api, id)).map(({ type }) => type);
  assert.deepEqual(await types(fork.json().runId), await types(runId));
});

test('what a child gives back reaches the code as readers of the child see it', async () => {
  const api = await openPacks();
  const secret = { outputs: { token: { sensitive: true } } };
  const give = { body: "return { token: 'hush', size: 1 };", more: secret };
  const call = {
    body: "return { got: (await ctx.invokeSubWorkflow({ workflowRef: 'giver' })).outputs };",
    role: 'side-effect',
  };
  await api.install({ nodes: { [TYPE]: call, 'vendor.acme.give': give } });
  for (const known of [workflow('giver', [node('x', 'vendor.acme.give')]), one()])
    await api.registered(known);
  const { outputs } = await api.ended(await api.start('one'));
  const { got } = outputs as { got: JsonObject };
  assert.equal(got.size, 1);
  assert.ok(!JSON.stringify(outputs).includes('hush'));
});

test('failures propagate, with what the child says', async () => {
  const body = `
    const told = [];
    for (const request of ctx.config.requests)
      try { await ctx.invokeSubWorkflow(request); }
      catch (error) { told.push(error.code); if (error.code === 'child_pending') throw error; }
    return { told };`;
  const requests = [
    { workflowRef: 'nowhere' },
    { workflowRef: 'broken' },
    { workflowRef: 'child@1.0.0' },
    { workflowRef: 'child', inputs: 1 },
    { workflowRef: 'child', inputs: { word: 1 } },
    { workflowRef: 'child', runOptions: { tags: ['x'] } },
  ];
  const [api, runId] = await started(body, one({ requests }));
  const run = await api.ended(runId);
  const invalid = 'validation_error';
  const told = ['unknown_child_workflow', 'child_failed', invalid, invalid, 'invalid_input', invalid];
  assert.deepEqual(run.outputs, { told }, JSON.stringify(run));
});

test('code that goes on in spite of its child is not heard', async () => {
  const body = `
    try { await ctx.invokeSubWorkflow({ workflowRef: 'child' }); }
    catch { await ctx.emit({ type: 'too late' }); ctx.sideEffects.tryAcquire({ idempotencyKey: 'k' }); return { early: true }; }
    return { early: false };`;
  const [api, runId] = await started(body);
  assert.deepEqual((await api.ended(runId)).outputs, { early: false });
  const events = await eventsOf(api, runId);
  assert.ok(!events.some(({ payload }) => payload.message === 'too late'));
});

test('a child that failed is called anew by a retry, one that completed is not', async () => {
  const body = `
    const { runId } = await ctx.invokeSubWorkflow({ workflowRef: 'child' });
    if (ctx.attempt < 2) await ctx.invokeSubWorkflow({ workflowRef: 'broken' });
    return { runId };`;
  const [api, runId] = await started(body, one({}, { maxRetries: 2, backoffMs: 0 }));
  const run = await api.ended(runId);
  assert.equal(run.status, 'completed', JSON.stringify(run));
  const children = await childrenOf(api, runId);
  assert.equal(children.length, 3);
  assert.deepEqual(run.outputs, { runId: children[0] });
});

test('code that calls another workflow than before is told so', async () => {
  const body = `
    if (globalThis.seen) return ctx.invokeSubWorkflow({ workflowRef: 'broken' });
    globalThis.seen = true;
    return ctx.invokeSubWorkflow({ workflowRef: 'child' });`;
  const [api, runId] = await started(body);
  const { error } = await api.ended(runId);
  assert.equal((error as JsonObject).code, 'conflict');
});

test('a cancelled run ends its child, and a paused one hears of it later', async () => {
  const body = `return { status: (await ctx.invokeSubWorkflow({ workflowRef: ctx.config.ref })).status };`;
  const [api, runId] = await started(body, one({ ref: 'slow' }));
  const childRunId = await firstChild(api, runId);
  const waits = (await api.get(`/v1/host/gantry/runs/${runId}/explain`)).json().waitingFor;
  assert.match(waits[0].text, new RegExp(childRunId));
  await api.post(`/v1/runs/${runId}:pause`, { drainPolicy: 'drain-current-node' });
  await api.post(`/v1/runs/${childRunId}/cancel`, {});
  assert.equal((await api.get(`/v1/runs/${runId}`)).json().status, 'paused');
  await api.post(`/v1/runs/${runId}:resume`, {});
  assert.equal(((await api.ended(runId)).error as JsonObject).code, 'child_failed');
  const other = await api.start('one');
  const cascaded = await firstChild(api, other);
  await api.post(`/v1/runs/${other}/cancel`, {});
  assert.equal((await api.ended(cascaded)).status, 'cancelled');
});

test('a pure node starts nothing', async () => {
  const api = await openPacks();
  await api.install({ nodes: { [TYPE]: { body: 'return { sub: typeof ctx.invokeSubWorkflow };' } } });
  await api.registered(one());
  assert.deepEqual((await api.ended(await api.start('one'))).outputs, { sub: 'undefined' });
});
