/** A node that fails says where in the pack it did. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@gantry/protocol';
import type { Invocation, NodeResult } from './invocation.ts';
import { ErrorForPack } from './result.ts';
import { pythonPack, startPythonSandbox } from './testing/python.ts';
import { invocationOf, packOf, startSandbox } from './testing/sandbox.ts';

const surfaces = { 'kv.put': 'unary', look: 'sync' } as const;
const call: Invocation['call'] = async () => {
  throw new ErrorForPack('refused', 'No.', { details: { key: 'k' } });
};

const detailsOf = (result: NodeResult): JsonObject | undefined =>
  result.status === 'error' ? result.error.details : { not: 'failed' };

const FILES = {
  'order.mjs': `export function total(order) {
  return order.lines.map((line) => line.price);
}
export const put = async (ctx) => {
  await null;
  return ctx.kv.put({ key: 'k' });
};`,
  'old.cjs': `exports.fail = () => {
  throw new Error('old');
};`,
  'index.mjs': `import { put, total } from './order.mjs';
import old from './old.cjs';
export const nodes = {
  own: async () => total({}),
  surface: async (ctx) => {
    await put(ctx);
  },
  sync: async (ctx) => ctx.look(),
  cjs: async () => old.fail(),
  deep: async () => { const fall = (n) => (n === 0 ? total({}) : fall(n - 1)); fall(50); },
  text: async () => { throw 'plain'; },
  forged: async () => { throw Object.assign(new Error('x\\n    at /etc/passwd:1:1'), { stack: '    at /etc/passwd:1:1\\n    at file:///secret/a.mjs:2:2' }); },
};`,
};

test('the place in the pack stands in the details, relative and innermost first', async (t) => {
  const sandbox = await startSandbox(t);
  const code = await packOf(FILES);
  const run = async (typeId: string) =>
    detailsOf((await sandbox.invoke(invocationOf(code, { typeId, surfaces, call }))).result);
  assert.deepEqual(await run('own'), {
    at: 'order.mjs:2:22',
    stack: ['order.mjs:2:22', 'index.mjs:4:20'],
  });
  assert.deepEqual(await run('surface'), {
    at: 'order.mjs:6:17',
    stack: ['order.mjs:6:17', 'index.mjs:6:5'],
    key: 'k',
  });
  assert.deepEqual(await run('sync'), { at: 'index.mjs:8:28', key: 'k' });
  assert.deepEqual(await run('cjs'), { at: 'old.cjs:2:9', stack: ['old.cjs:2:9', 'index.mjs:9:24'] });
  const deep = await run('deep');
  assert.equal(Array.isArray(deep?.stack) && deep.stack.length, 5);
  for (const typeId of ['text', 'forged']) assert.equal(await run(typeId), undefined, typeId);
});

test('a pack that meddles with stacks loses the place and nothing else', async (t) => {
  const sandbox = await startSandbox(t);
  const meddling = [
    'Error.prepareStackTrace = () => { throw 1; };',
    'Error.prepareStackTrace = () => ({});',
    'Error.stackTraceLimit = undefined;',
    'delete Error.stackTraceLimit;',
  ];
  for (const act of meddling) {
    const before = `try { ${act} } catch {}`;
    const source = `${before} export const nodes = {
      refused: (ctx) => ctx.kv.put({}), absent: (ctx) => ctx.kv.nope({}), own: () => { throw new Error('own'); } };`;
    const code = await packOf(source);
    const codes: unknown[] = [];
    for (const typeId of ['refused', 'absent', 'own']) {
      const { result } = await sandbox.invoke(invocationOf(code, { typeId, surfaces, call }));
      codes.push(result.status === 'error' && result.error.code);
    }
    assert.deepEqual(codes, ['refused', 'host_capability_missing', 'sandbox_invocation_error'], act);
  }
  assert.equal(sandbox.stats().started, meddling.length);
});

test('so does that of a pack that does not load', async (t) => {
  const sandbox = await startSandbox(t);
  const inspect = async (entry: string, source: string) => {
    const inspection = await sandbox.inspect({ ...(await packOf({ [entry]: source })), entry });
    return inspection.loaded ? inspection : inspection.error.details;
  };
  assert.deepEqual(await inspect('index.mjs', '\nconst none = undefined;\nnone.some;'), {
    at: 'index.mjs:3:6',
  });
  assert.deepEqual(await inspect('index.cjs', '\n\nexports.nodes = {;'), { at: 'index.cjs:3' });
});

test('Python packs say the line', async (t) => {
  const sandbox = await startPythonSandbox(t);
  if (!sandbox) return;
  const code = await pythonPack(`return helper(ctx)`, `def helper(ctx):\n    return ctx.kv.put({})`);
  const { result } = await sandbox.invoke(invocationOf(code, { surfaces, call }));
  assert.deepEqual(detailsOf(result), { at: 'nodes.py:2', stack: ['nodes.py:2', 'nodes.py:4'], key: 'k' });
});
