import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, RunEventDoc } from '@gantry/protocol';
import { assertPublic } from '../api/testing/api-test.ts';
import { edge, node, workflow } from '../testing/definitions.ts';
import { onePerFile } from '../testing/one-per-file.ts';
import type { TestNode } from './testing/pack-archive.ts';
import { type PackTest, sharedPackTest } from './testing/pack-test.ts';

const TYPE = 'vendor.acme.work';
const one = (config = {}, more = {}, rest = {}) => workflow('one', [node('a', TYPE, config, more)], rest);

const started = async (work: TestNode, definition = one()): Promise<[PackTest, string]> => {
  const api = await openPacks();
  await api.install({ nodes: { [TYPE]: work } });
  await api.registered(definition);
  return [api, await api.start(definition.id)];
};

const eventsOf = async (api: PackTest, runId: string): Promise<RunEventDoc[]> => {
  const { events } = (await api.get(`/v1/runs/${runId}/events/poll?timeout=1`)).json();
  for (const event of events) assertPublic('run-event.schema.json', event);
  return events;
};

const errorOf = (run: JsonObject): JsonObject => run.error as JsonObject;

const answer = (api: PackTest, runId: string, resumeValue: unknown) =>
  api.post(`/v1/runs/${runId}/interrupts/a`, { resumeValue });

const openPacks = onePerFile(sharedPackTest);

test('a node gets inputs, config and variables, and what it writes and returns is the run own', async () => {
  const body = `
    ctx.variables.set('total', ctx.variables.get('total') + ctx.inputs.x);
    return { status: 'success', outputs: { sum: ctx.inputs.x + ctx.config.y, runId: ctx.runId, nodeId: ctx.nodeId } };`;
  const definition = one(
    { y: 2 },
    { inputs: { x: { type: 'static', value: 40 } } },
    {
      variables: [{ name: 'total', type: 'number', defaultValue: 1 }],
    },
  );
  const [api, runId] = await started({ body }, definition);
  const run = await api.ended(runId);
  assert.equal(run.status, 'completed', JSON.stringify(run));
  assert.deepEqual(run.outputs, { sum: 42, runId, nodeId: 'a' });
  assert.deepEqual(run.variables, { total: 41 });
});

test('what a node tells stands in the log, in order, before its end', async () => {
  const body = `
    ctx.log('warn', 'careful', { depth: 1 });
    await ctx.emit({ type: 'output.chunk', data: { chunk: 'hel', isLast: false } });
    await ctx.emit({ kind: 'node.progress', payload: { done: 0.5 } });
    return {};`;
  const [api, runId] = await started({ body });
  await api.ended(runId);
  const told = (await eventsOf(api, runId)).filter(({ nodeId }) => nodeId === 'a');
  assert.deepEqual(
    told.map(({ type }) => type),
    ['node.started', 'log.appended', 'output.chunk', 'log.appended', 'node.completed'],
  );
  assert.deepEqual(told[1]?.payload.fields, { depth: 1 });
  assert.equal(told[2]?.payload.chunk, 'hel');
  assert.deepEqual(told[3]?.payload.fields, { done: 0.5 });
});

test('a node that asks is called again with every answer, in both dialects', async () => {
  const body = `
    const first = await ctx.suspend({ kind: 'approval', prompt: 'Ship?' });
    const second = await ctx.suspend({ reason: 'conversation-input', resumeKey: 'size', answerSchema: { type: 'object' } });
    return { decision: first.decision, size: second.answers.size };`;
  const [api, runId] = await started({ body, role: 'gate' });
  assert.equal((await api.asks(runId)).kind, 'approval');
  assert.equal((await answer(api, runId, { action: 'accept' })).statusCode, 200);
  assert.equal((await api.asks(runId)).kind, 'custom');
  assert.equal((await answer(api, runId, 'none')).statusCode, 400);
  await answer(api, runId, { size: 3 });
  const run = await api.ended(runId);
  assert.deepEqual(run.outputs, { decision: 'approve', size: 3 });
});

test('errors keep their code, and are tried again where they say so', async () => {
  const body = `
    if (ctx.attempt === 0) return { status: 'error', error: { code: 'BUSY', message: 'later', retryable: true } };
    throw Object.assign(new Error('no'), { code: 'GONE', details: { at: ctx.attempt } });`;
  const [api, runId] = await started({ body }, one({}, { settings: { maxRetries: 3, backoffMs: 0 } }));
  const error = errorOf(await api.ended(runId));
  assert.deepEqual([error.code, error.message], ['GONE', 'no']);
});

test('terminate ends the run, and directives do what they say or are refused', async () => {
  const api = await openPacks();
  const directive = {
    body: 'return ctx.applyErrorDirective({ ...ctx.config, upstreamError: { code: "UP", message: "up" } });',
  };
  const stop = { body: 'return ctx.terminate({ code: "STOP", message: "enough", details: { left: 1 } });' };
  await api.install({ nodes: { [TYPE]: directive, 'vendor.acme.stop': stop } });
  const handled = [node('a', 'vendor.acme.stop'), node('b', 'core.noop')];
  await api.registered(workflow('stop', handled, { edges: [edge('a', 'b', { triggerRule: 'any_failed' })] }));
  const stopped = errorOf(await api.ended(await api.start('stop')));
  assert.deepEqual([stopped.code, stopped.message], ['STOP', 'enough']);
  const ends: Record<string, unknown> = {};
  for (const name of ['resume', 'ignore', 'break', 'commit', 'rollback']) {
    await api.registered(one({ directive: name, fallback: 7 }));
    const run = await api.ended(await api.start('one'));
    ends[name] = run.status === 'completed' ? (run.outputs as JsonObject).fallback : errorOf(run).code;
  }
  const refused = 'capability_not_provided';
  assert.deepEqual(ends, { resume: 7, ignore: null, break: 'UP', commit: refused, rollback: refused });
});

test('the side-effect guard lets an effect happen once, over retries', async () => {
  const body = `
    const key = { effectType: 'mail', idempotencyKey: 'k' };
    const held = ctx.sideEffects.tryAcquire(key);
    if (held.state === 'acquired') ctx.sideEffects.markCompleted(held.effectId, { sent: ctx.attempt });
    if (ctx.attempt === 0) return { status: 'error', error: { code: 'BUSY', message: 'later', retryable: true } };
    return { state: held.state, previous: held.previousResult };`;
  const definition = one({}, { settings: { maxRetries: 1, backoffMs: 0 } });
  const [api, runId] = await started({ body, role: 'side-effect' }, definition);
  const run = await api.ended(runId);
  assert.deepEqual(run.outputs, { state: 'duplicate', previous: { sent: 0 } }, JSON.stringify(run));
});

test('a node that requires a runtime capability runs only where discovery lists it', async () => {
  const api = await openPacks();
  const { runtimeCapabilities } = (await api.get('/.well-known/openwop')).json();
  assert.ok(runtimeCapabilities.includes('host.kvStorage'), runtimeCapabilities.join());
  const definition = one();
  for (const [requires, status] of [
    [['host.kvStorage'], 'completed'],
    [['host.kvStorage', 'chat.sendPrompt'], 'failed'],
  ] as const) {
    await api.install({
      nodes: { [TYPE]: { body: 'return { ran: true };', more: { requires: [...requires] } } },
    });
    await api.registered(definition);
    const run = await api.ended(await api.start('one'));
    assert.equal(run.status, status, JSON.stringify(run));
    if (status === 'completed') continue;
    const { code, message, details } = errorOf(run);
    assert.equal(code, 'capability_not_provided');
    assert.match(String(message), /requires chat\.sendPrompt.*It provides: .*host\.kvStorage/);
    assert.deepEqual(Object(details).missing, ['chat.sendPrompt']);
  }
});

test('a pure node has no guard, and needs what the host does not have are told', async () => {
  const api = await openPacks();
  const secret = { requiresSecrets: [{ id: 'key', kind: 'api-key' }] };
  await api.install({
    nodes: {
      [TYPE]: { body: 'return { guard: typeof ctx.sideEffects, sub: typeof ctx.invokeSubWorkflow };' },
      'vendor.acme.secret': { body: 'return {};', more: secret },
      // Metadata as long as the host does not advertise `modelCapabilities`
      'vendor.acme.model': { body: 'return {};', more: { requiredModelCapabilities: ['reasoning'] } },
    },
  });
  await api.registered(workflow('model', [node('a', 'vendor.acme.model')]));
  assert.equal((await api.ended(await api.start('model'))).status, 'completed');
  await api.registered(one());
  assert.deepEqual((await api.ended(await api.start('one'))).outputs, {
    guard: 'undefined',
    sub: 'undefined',
  });
  await api.registered(workflow('secret', [node('a', 'vendor.acme.secret')]));
  assert.equal(errorOf(await api.ended(await api.start('secret'))).code, 'credential_unavailable');
});

test('a run that asked is replayed without its code', async () => {
  const body = `ctx.log('info', 'asking'); const { decision } = await ctx.suspend({ kind: 'approval', prompt: 'Go?' }); return { decision };`;
  const [api, runId] = await started({ body, role: 'gate' });
  await api.asks(runId);
  await answer(api, runId, { action: 'accept' });
  await api.ended(runId);
  const fork = await api.post(`/v1/runs/${runId}:fork`, { mode: 'replay', fromSeq: 0 });
  assert.equal(fork.statusCode, 201, fork.body);
  const replayed = await api.ended(fork.json().runId);
  assert.deepEqual(replayed.outputs, { decision: 'approve' });
  const types = async (id: string) => (await eventsOf(api, id)).map(({ type }) => type);
  assert.deepEqual(await types(fork.json().runId), await types(runId));
});

test('a node that acts by itself and runs out of time is not tried again, for it may have acted', async () => {
  const body = `if (ctx.config.isFirst) return {}; await ctx.emit({ type: 'acting' }); await new Promise(() => {});`;
  const api = await openPacks();
  const work = { body, role: 'side-effect' };
  await api.install({ requires: ['fs.write'], nodes: { [TYPE]: work } }, '?grant=fs.write');
  // Its process is there then, and all of the time is for the code
  await api.registered(workflow('first', [node('a', TYPE, { isFirst: true })]));
  assert.equal((await api.ended(await api.start('first'))).status, 'completed');
  await api.registered(one({}, { settings: { maxRetries: 2, backoffMs: 0, timeoutMs: 5_000 } }));
  const runId = await api.start('one');
  assert.equal(errorOf(await api.ended(runId)).code, 'effect_in_doubt');
  const acts = (await eventsOf(api, runId)).filter(({ payload }) => payload.message === 'acting');
  assert.equal(acts.length, 1);
});
