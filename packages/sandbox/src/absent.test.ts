/** What a pack is told of what the host does not offer, or could not do. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OpenwopError } from '@gantry/protocol';
import type { Invocation, NodeError, NodeResult, SurfaceTable } from './invocation.ts';
import { invocationOf, nodePack, packOf, startSandbox } from './testing/sandbox.ts';

const surfaces = {
  'storage.kv.atomicIncrement': 'unary',
  'storage.kv.get': 'unary',
  'storage.table.query': 'unary',
} as const;
const call = async () => null;

const outputsOf = (result: NodeResult) => result.status === 'success' && result.outputs;

test('what is not offered is absent, so that packs can test for it', async (t) => {
  const sandbox = await startSandbox(t);
  const code = await nodePack(`const fn = ctx.callAI; return {
    absent: [typeof fn, typeof ctx.callAI?.embeddings, typeof ctx.storage?.graph?.query, typeof ctx.storage.kv.nope],
    named: ['callAI' in ctx, 'kv' in ctx.storage], own: Object.keys(ctx.storage.kv), copy: typeof { ...ctx.storage }.kv };`);
  const { result } = await sandbox.invoke(invocationOf(code, { surfaces, call }));
  assert.deepEqual(outputsOf(result), {
    absent: Array(4).fill('undefined'),
    named: [false, true],
    own: ['atomicIncrement', 'get'],
    copy: 'object',
  });
});

/** How each of these bodies ends. */
async function resultsOf(
  t: Parameters<typeof startSandbox>[0],
  bodies: readonly string[],
  table: SurfaceTable = surfaces,
) {
  const sandbox = await startSandbox(t);
  const nodes = bodies.map((body, index) => `'n${index}': async (ctx) => { ${body} }`);
  const code = await packOf(`export const nodes = { ${nodes.join(',\n')} };`);
  const results: NodeResult[] = [];
  for (const index of bodies.keys()) {
    const made = invocationOf(code, { surfaces: table, call, typeId: `n${index}` });
    results.push((await sandbox.invoke(made)).result);
  }
  return results;
}

const errorsOf = async (...args: Parameters<typeof resultsOf>): Promise<(NodeError | undefined)[]> =>
  (await resultsOf(...args)).map((result) => (result.status === 'error' ? result.error : undefined));

/** The code and the capability of each. */
const failuresOf = async (...args: Parameters<typeof errorsOf>) =>
  (await errorsOf(...args)).map((error) => [error?.code, error?.details?.capability]);

test('what is not offered is missing, by its capability, when it is called all the same', async (t) => {
  const cases = {
    'return await ctx.callAI({});': 'host.aiProviders.callAI',
    'const { callAI } = ctx; return callAI({});': 'host.aiProviders.callAI',
    'return ctx.storage.kv.nope({});': 'host.kvStorage.nope',
    'return ctx.storage.graph.query({});': 'host.storage.graph.query',
    'const store = ctx.storage.kv; return store.nope(ctx.other);': 'host.kvStorage.nope',
    'return ctx.storage?.kv?.nope({});': 'host.kvStorage.nope',
    'const ask = async () => ctx.queue.send({}); return (async () => await ask())();': 'host.queueBus.send',
  };
  const missing = Object.values(cases).map((path) => ['host_capability_missing', path]);
  assert.deepEqual(await failuresOf(t, Object.keys(cases)), missing);
});

test('what is not offered is not to blame for other mistakes of the pack', async (t) => {
  const own = ['sandbox_invocation_error', undefined];
  const mistakes = [
    'const none = {}; none.some({});',
    'void ctx.storage.graph; ctx.inputs.some.thing;',
    'void ctx.callAI; await new Promise((resolve) => setTimeout(resolve)); let none; none.some;',
    'const who = ctx.customer; const lines = undefined; lines.map((line) => line);',
    `if (typeof ctx.storage.table.find !== 'function') { const orders = {}; orders.find(() => {}); }`,
    `if (typeof ctx.find !== 'function') { const orders = {}; orders.find(() => {}); }`,
  ];
  const coded = `void ctx.callAI; throw Object.assign(new Error('callAI is not a function'), { code: 'OWN' });`;
  assert.deepEqual(await failuresOf(t, [...mistakes, coded]), [
    ...mistakes.map(() => own),
    ['OWN', undefined],
  ]);
});

test('what there is instead is told, what is spelled alike first', async (t) => {
  const [typo, absent, group] = await errorsOf(t, [
    'return ctx.storage.kv.atomicIncrment({});',
    'return ctx.storage.graph.query({});',
    'return ctx.storge.kv.get({});',
  ]);
  const rest = 'Test for what a host may lack before calling it.';
  assert.equal(
    typo?.message,
    `ctx.storage.kv.atomicIncrment is not a function: this host does not offer ctx.storage.kv.atomicIncrment. ctx.storage.kv has atomicIncrement, get. ${rest}`,
  );
  assert.match(
    absent?.message ?? '',
    /does not offer ctx\.storage\.graph\.query\. ctx\.storage has kv, table\. /,
  );
  assert.match(group?.message ?? '', /does not offer ctx\.storge\.kv\. ctx has storage, .* and \d+ more\. /);
});

test('what is denied to the pack is absent too, and missing by its capability when it is called', async (t) => {
  const denied = { ...surfaces, 'storage.kv.get': 'denied', 'chat.emitCard': 'denied' } as const;
  const bodies = [
    'return { is: [typeof ctx.chat?.emitCard, Object.keys(ctx.storage.kv)] };',
    'const { chat } = ctx; await null; return chat.emitCard({});',
    'const { get } = ctx.storage.kv; return get({});',
  ];
  const results = await resultsOf(t, bodies, denied);
  assert.deepEqual(outputsOf(results[0]!), { is: ['undefined', ['atomicIncrement']] });
  const errors = results.map((result) => result.status === 'error' && result.error.details?.capability);
  assert.deepEqual(errors.slice(1), ['host.chat.emitCard', 'host.kvStorage.get']);
});

test('what goes wrong in the host is in its log and nowhere else', async (t) => {
  const logged: unknown[] = [];
  const sandbox = await startSandbox(t, { log: (...entry) => void logged.push(entry), now: () => 0 });
  const where = 'connect ECONNREFUSED 10.1.2.3:5432';
  const failing: Invocation['call'] = async (method) => {
    if (method === 'refuse') throw new OpenwopError('not_found', { message: 'There is none.' });
    const error = new Error(where, { cause: new Error(where) });
    throw Object.assign(error, { code: 'ECONNREFUSED', details: { where }, retryable: true });
  };
  const code = await nodePack(`
    const told = [];
    for (const ask of [ctx.refuse, ctx.ask, ctx.block])
      try { await ask({}); } catch ({ code, message, details, retryable }) { told.push({ code, message, details, retryable }); }
    return { told };`);
  const asked = { refuse: 'unary', ask: 'unary', block: 'sync' } as const;
  const { result } = await sandbox.invoke(invocationOf(code, { surfaces: asked, call: failing }));
  const untold = { code: 'internal_error', message: 'The host failed to carry out this call. See its log.' };
  const refused = { code: 'not_found', message: 'There is none.' };
  const told = [refused, untold, untold].map((one) => ({ ...one, retryable: false }));
  assert.deepEqual(outputsOf(result), { told });
  assert.equal(logged.length, 1, 'one in a second is enough');
  assert.match(JSON.stringify(logged), /"tenant":"acme".*"method":"ask".*10\.1\.2\.3:5432/);
});
