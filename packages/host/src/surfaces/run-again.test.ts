/** Nodes that read, write what they made of it, and run again: after an answer, after a failure. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { packTest } from '../packs/testing/pack-test.ts';
import { node, workflow } from '../testing/definitions.ts';

const TYPE = 'vendor.acme.take';
/** Takes one of the stock: seen at first as 0, left as -1. */
const TAKE = `
  const { kv } = ctx.storage;
  const { value: before = 0 } = await kv.get({ key: 'stock' });
  const swapped = before === 0
    ? await kv.put({ key: 'stock', value: -1 })
    : await kv.compareAndSwap({ key: 'stock', expectedValue: before, newValue: before - 1 });
`;
const LEFT = `return { before, left: (await kv.get({ key: 'stock' })).value };`;

test('a node that asks somebody after it wrote goes on with the answer', async (t) => {
  const api = await packTest(t);
  const body = `${TAKE} await ctx.suspend({ kind: 'approval', prompt: 'Ship?' }); ${LEFT}`;
  await api.install({ nodes: { [TYPE]: { body, role: 'side-effect' } } });
  await api.registered(workflow('one', [node('a', TYPE)]));
  const runId = await api.start('one');
  await api.asks(runId);
  const answered = await api.post(`/v1/runs/${runId}/interrupts/a`, { resumeValue: { action: 'accept' } });
  assert.equal(answered.statusCode, 200, answered.body);
  const run = await api.ended(runId);
  assert.deepEqual(
    [run.status, run.outputs],
    ['completed', { before: 0, left: -1 }],
    JSON.stringify(run.error),
  );
});

test('a node that fails after it wrote is tried again with what it read', async (t) => {
  const api = await packTest(t);
  const body = `${TAKE}
    if (ctx.attempt === 0) throw Object.assign(new Error('flaky'), { retryable: true });
    ${LEFT}`;
  await api.install({ nodes: { [TYPE]: { body, role: 'side-effect' } } });
  await api.registered(workflow('one', [{ ...node('a', TYPE), settings: { maxRetries: 1, backoffMs: 0 } }]));
  const run = await api.ended(await api.start('one'));
  assert.deepEqual(
    [run.status, run.outputs],
    ['completed', { before: 0, left: -1 }],
    JSON.stringify(run.error),
  );
});

test('a node that writes the time or a random id is tried again, with a warning in the log of its run', async (t) => {
  const api = await packTest(t);
  const body = `
    const { kv } = ctx.storage;
    await kv.put({ key: 'at', value: Math.random() });
    const written = (await kv.get({ key: 'at' })).value;
    if (ctx.attempt === 0) throw Object.assign(new Error('flaky'), { retryable: true, details: { written } });
    return { written };`;
  await api.install({ nodes: { [TYPE]: { body, role: 'side-effect' } } });
  await api.registered(workflow('one', [{ ...node('a', TYPE), settings: { maxRetries: 1, backoffMs: 0 } }]));
  const runId = await api.start('one');
  const run = await api.ended(runId);
  assert.equal(run.status, 'completed', JSON.stringify(run.error));
  const { events } = (await api.get(`/v1/runs/${runId}/events/poll`)).json();
  const warnings = events.filter(({ type }: { type: string }) => type === 'log.appended');
  assert.equal(warnings.length, 1);
  assert.match(
    warnings[0].payload.message,
    /^Write 0 of node "a" to kvStorage .* other input .* recorded answer/,
  );
  assert.equal(warnings[0].payload.level, 'warn');
});
