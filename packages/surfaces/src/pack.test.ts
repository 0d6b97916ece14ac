/** Real pack code in the sandbox, written as published packs are. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { invocationOf, packOf, startSandbox } from '../../sandbox/src/testing/sandbox.ts';
import { embeddedCallGate } from './testing/embedded-call-gate.ts';
import { factsOf } from './testing/test-call-gate.ts';

const SOURCE = `
const delegate = (surface, method) => async (ctx) => {
  const fn = ctx.storage?.[surface]?.[method];
  if (typeof fn !== 'function') throw Object.assign(new Error('missing'), { code: 'HOST_CAPABILITY_MISSING' });
  return { status: 'success', outputs: await fn.call(ctx.storage[surface], { ...ctx.config, ...ctx.inputs }) };
};
export const nodes = {
  'test.set': delegate('kv', 'set'),
  'test.get': delegate('kv', 'get'),
  'test.increment': delegate('kv', 'atomicIncrement'),
  'test.query': delegate('ledger', 'query'),
};
`;

test('a pack keeps, counts once, and sees what it may', async (t) => {
  const [sandbox, { callGate }, code] = await Promise.all([
    startSandbox(t),
    embeddedCallGate(),
    packOf(SOURCE),
  ]);
  const run = async (typeId: string, inputs: { [name: string]: string }, tenant = 'acme') => {
    const calls = callGate.open(factsOf({ tenant, nodeId: typeId }));
    const invocation = invocationOf(code, {
      typeId,
      surfaces: callGate.table,
      key: { tenant, workspace: 'main', principal: 'ada' },
      call: (path, args, io) => calls.call(path, args, io),
    });
    const { ctx } = invocation;
    const { result } = await sandbox.invoke({ ...invocation, ctx: { ...ctx, nodeId: typeId, inputs } });
    return result.status === 'success' ? result.outputs : result.status === 'error' && result.error;
  };
  assert.deepEqual(await run('test.set', { key: 'a', value: 'ours' }), { ok: true, replaced: false });
  const there = { value: 'ours', found: true, ttlRemainingMs: null };
  assert.deepEqual(await run('test.get', { key: 'a' }), there);
  assert.deepEqual(await run('test.get', { key: 'a' }, 'other'), { found: false, ttlRemainingMs: null });
  for (let attempt = 0; attempt < 2; attempt++)
    assert.deepEqual(await run('test.increment', { key: 'n' }), { value: 1, previous: 0 });
  const refused = await run('test.set', { key: 'k'.repeat(300), value: '' });
  assert.ok(refused && 'code' in refused && refused.code === 'kv_key_too_large');
  assert.deepEqual(refused.details, { maxKeyBytes: 256, at: 'index.mjs:5:49' });
  const missing = await run('test.query', {});
  assert.ok(missing && 'code' in missing && /^host_capability_missing$/i.test(String(missing.code)));
});
