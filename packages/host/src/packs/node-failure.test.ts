/** What becomes of a node whose code fails, or asks for what the host cannot tell apart. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, RunEventDoc } from '@gantry/protocol';
import { node, workflow } from '../testing/definitions.ts';
import { type PackTest, packTest } from './testing/pack-test.ts';

const NODES = [
  ['pure', 'pure', []],
  ['host', 'side-effect', []],
  ['self', 'side-effect', ['fs.write']],
] as const;

/** Installs and runs a node of its own; tells how the run ended, and how often the code began. */
async function runOf(api: PackTest, [name, role, requires]: (typeof NODES)[number], body: string) {
  const typeId = `vendor.acme.${name}`;
  const nodes = { [typeId]: { body, role } };
  const query = requires.length > 0 ? `?grant=${requires.join()}` : '';
  await api.install({ name: typeId, requires, nodes }, query);
  await api.registered(workflow(name, [node('a', typeId)]));
  const runId = await api.start(name);
  const run = await api.ended(runId);
  const { events } = (await api.get(`/v1/runs/${runId}/events/poll?timeout=1`)).json();
  const began = (events as RunEventDoc[]).filter(({ payload }) => payload.message === 'began').length;
  return { run, began };
}

test('code that throws has ended: it runs once and tells its own error, also where it may have acted', async (t) => {
  const api = await packTest(t);
  for (const kind of NODES) {
    const body = `ctx.log('info', 'began'); throw new Error('the input has no name');`;
    const { run, began } = await runOf(api, kind, body);
    const { code, message } = run.error as JsonObject;
    assert.deepEqual([code, message], ['sandbox_invocation_error', 'the input has no name'], kind[0]);
    assert.equal(began, 1, kind[0]);
  }
});

test('a failure names its place in the pack, in the run, its events, its explanation and its replay', async (t) => {
  const api = await packTest(t);
  const { run } = await runOf(api, NODES[0], `const order = {};\norder.lines.map((line) => line.price);`);
  const at = 'index.mjs:2:13';
  const { runId, error } = run as JsonObject & { readonly error: JsonObject };
  assert.deepEqual(error.details, { at });
  const { events } = (await api.get(`/v1/runs/${runId}/events/poll?timeout=1`)).json();
  const failed = (events as RunEventDoc[]).find(({ type }) => type === 'node.failed');
  assert.deepEqual(failed?.payload.error, error);
  const { cause } = (await api.get(`/v1/host/gantry/runs/${runId}/explain`)).json();
  assert.deepEqual(cause.error, error);
  const replay = (await api.post(`/v1/runs/${runId}:fork`, { mode: 'replay', fromSeq: 0 })).json().runId;
  assert.deepEqual((await api.ended(replay)).error, error);
  const diff = (await api.get(`/v1/runs/${runId}:diff?against=${replay}`)).json();
  assert.deepEqual([diff.eventDiffs, diff.stateDiff], [[], {}]);
  const again = (await api.post(`/v1/runs/${runId}:fork`, { mode: 'branch', fromSeq: 0 })).json().runId;
  assert.deepEqual((await api.ended(again)).error, error);
});

test('effects are told apart by their whole key, and what is no key is refused', async (t) => {
  const body = `
    const long = 'k'.repeat(600), states = [];
    const ask = (idempotencyKey, effectType) => {
      try {
        const held = ctx.sideEffects.tryAcquire({ effectType, idempotencyKey });
        states.push(held.state);
        if (held.state === 'acquired') ctx.sideEffects.markCompleted(held.effectId, {});
      } catch (error) { states.push([error.code, error.details.field].join()); }
    };
    for (const key of [long + 'A', long + 'B', long + 'A', 'A', 'A']) ask(key, 'mail');
    ask('l\\u0000b', 'mai'); ask('b', 'mai\\u0000l');
    for (const key of [{ a: 1 }, 7, 'k'.repeat(4097)]) ask(key, 'mail');
    ask('k', { mail: 1 }); ask('k', 'm'.repeat(257));
    return { states };`;
  const { run } = await runOf(await packTest(t), NODES[1], body);
  const once = 'acquired';
  const refused = Array(3).fill('validation_error,idempotencyKey');
  assert.deepEqual((run.outputs as JsonObject | undefined)?.states, [
    once,
    once,
    'duplicate',
    once,
    'duplicate',
    once,
    once,
    ...refused,
    'validation_error,effectType',
    'validation_error,effectType',
  ]);
});
