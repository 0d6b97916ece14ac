/** What a node did not await is done, or it fails: nothing of it is lost unheard, and no other run pays for it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Data, Invocation, NodeResult } from './invocation.ts';
import { ErrorForPack } from './result.ts';
import { invocationOf, MIB, nodePack, packOf, startSandbox, withInputs } from './testing/sandbox.ts';

const surfaces = { 'kv.put': 'unary', 'kv.get': 'unary', hear: 'stream', terminate: 'terminate' } as const;

/** A store whose writes take a while; keys that begin with `bad` are refused. */
function slowStore() {
  const kept = new Map<string, Data>();
  const call: Invocation['call'] = async (method, [request], io) => {
    const { key = '', value = null } = Object(request);
    for (let turn = 0; turn < 3; turn++) await setImmediate();
    if (method === 'hear') return new Promise(() => void io.send(1));
    if (method === 'kv.get') return { value: kept.get(key) ?? null };
    if (String(key).startsWith('bad'))
      throw new ErrorForPack('kv_key_invalid', `The key ${key} is not valid.`);
    kept.set(key, value);
    return null;
  };
  return { kept, call };
}

type Sandbox = Awaited<ReturnType<typeof startSandbox>>;

async function run(sandbox: Sandbox, body: string, overrides: Partial<Invocation> = {}) {
  const store = slowStore();
  const code = await nodePack(body);
  const { result } = await sandbox.invoke(invocationOf(code, { surfaces, call: store.call, ...overrides }));
  return { result, keys: [...store.kept.keys()] };
}

const errorOf = (result: NodeResult) =>
  result.status === 'error' ? result.error : { code: result.status, message: JSON.stringify(result) };

test('every call that a node did not await is done before the node ends', async (t) => {
  const sandbox = await startSandbox(t);
  const bodies = {
    'the calls themselves': `for (let at = 0; at < 300; at++) ctx.kv.put({ key: 'k' + at, value: at }); return {};`,
    'functions that call one after the other': `Array.from({ length: 150 }).forEach(async (_, at) => {
      await ctx.kv.put({ key: 'a' + at }); await null; await ctx.kv.put({ key: 'b' + at }); }); return {};`,
    'before the node ends the run': `for (let at = 0; at < 300; at++) ctx.kv.put({ key: 'k' + at }); return ctx.terminate({});`,
  };
  for (const [name, body] of Object.entries(bodies)) {
    const { result, keys } = await run(sandbox, body);
    assert.match(result.status, /^(success|terminate)$/, JSON.stringify(result));
    assert.equal(keys.length, 300, name);
  }
});

test('one that is refused fails the node, and says that it was not awaited', async (t) => {
  const sandbox = await startSandbox(t);
  const bodies = [
    `ctx.kv.put({ key: 'bad' }); return {};`,
    `[1].forEach(async () => { await ctx.kv.get({ key: 'a' }); await ctx.kv.put({ key: 'bad' }); }); return {};`,
    `ctx.kv.put({ key: 'bad' }); await new Promise(() => {});`,
  ];
  for (const body of bodies) {
    const { result } = await run(sandbox, body);
    const { code, message } = errorOf(result);
    assert.equal(code, 'kv_key_invalid');
    assert.match(
      message,
      /^kv\.put failed, and its promise was not awaited: The key bad is not valid\. Is an `await` missing/,
    );
  }
  const own = await run(sandbox, `Promise.reject(new Error('own')); return {};`);
  assert.match(errorOf(own.result).message, /^A promise failed, and its promise was not awaited: own /);
  const denied = await run(sandbox, `fetch('http://127.0.0.1/'); return {};`);
  assert.equal(errorOf(denied.result).code, 'sandbox_capability_denied');
});

test('what a pack leaves on purpose does not hold up or fail its node', async (t) => {
  const sandbox = await startSandbox(t);
  const bodies = {
    'a failure that it handles': `ctx.kv.put({ key: 'bad' }).catch(() => {}); return {};`,
    'a stream that it has read enough of': `for await (const event of ctx.hear({})) break; return {};`,
    'an event that cannot be sent': `ctx.emit(1n); ctx.emit({ fine: true }); return {};`,
    'a log entry that cannot be sent': `ctx.log('info', 'x', 1n); return {};`,
  };
  for (const [name, body] of Object.entries(bodies)) {
    const { result } = await run(sandbox, body);
    assert.deepEqual(result, { status: 'success', outputs: {} }, name);
  }
  const failed = await run(sandbox, `ctx.kv.put({}); return { status: 'error', error: { code: 'own' } };`, {
    call: () => new Promise(() => {}),
  });
  assert.equal(errorOf(failed.result).code, 'own');
});

test('events that wait for room are sent before the node ends', async (t) => {
  const sandbox = await startSandbox(t);
  let heard = 0;
  const emit = async () => {
    heard += 1;
    await setImmediate();
  };
  const body = `for (let at = 0; at < 300; at++) ctx.emit({ text: 'x'.repeat(60_000) }); return {};`;
  const { result } = await run(sandbox, body, { emit });
  assert.equal(result.status, 'success', JSON.stringify(result));
  assert.equal(heard, 300);
});

test('a node that waits for what never ends is stopped by its own limit, and its log says why', async (t) => {
  const sandbox = await startSandbox(t);
  const logs: string[] = [];
  const { result } = await run(sandbox, `ctx.kv.put({ key: 'k' }); return {};`, {
    call: () => new Promise(() => {}),
    log: (_, message) => void logs.push(message),
    limits: { memoryBytes: 64 * MIB, wallClockMs: 5_000, loadMs: 60_000, outputBytes: MIB },
  });
  assert.equal(errorOf(result).code, 'sandbox_timeout');
  assert.deepEqual(logs, ['The node has returned and waits for what it did not await: kv.put.']);
});

test('a promise among the outputs is named', async (t) => {
  const sandbox = await startSandbox(t);
  const cases = {
    'outputs.v': `return { status: 'success', outputs: { v: ctx.kv.get({ key: 'a' }) } };`,
    'outputs.list[1].v': `return { list: [1, { v: ctx.kv.get({ key: 'a' }) }] };`,
  };
  for (const [path, body] of Object.entries(cases)) {
    const { result } = await run(sandbox, body);
    const { message } = errorOf(result);
    assert.equal(message, `The result cannot be sent: ${path} is a Promise; is an \`await\` missing?`);
  }
});

const LEAVES = `export const nodes = { 'test.node': async (ctx) => {
  const { leaves } = ctx.inputs;
  if (leaves === 'call') setTimeout(() => ctx.kv.put({ key: 'late' }), 20);
  if (leaves === 'throw') setTimeout(() => { throw new Error('left behind'); }, 20);
  if (leaves === undefined) await new Promise((resolve) => setTimeout(resolve, 200));
  return { leaves: leaves ?? 'nothing' };
} };`;

test('what a run leaves behind fails no other run in the same process, and is logged with its run', async (t) => {
  const logged: unknown[] = [];
  const sandbox = await startSandbox(t, { log: (...entry) => void logged.push(entry) });
  const code = await packOf(LEAVES);
  const start = (runId: string, inputs: Invocation['ctx']['inputs']) => {
    const invocation = withInputs(code, inputs);
    const { call } = slowStore();
    return sandbox.invoke({ ...invocation, surfaces, call, ctx: { ...invocation.ctx, runId } });
  };
  for (const leaves of ['call', 'throw']) {
    const beside = start('run-b', {});
    const { result } = await start(`run-${leaves}`, { leaves });
    assert.deepEqual(result, { status: 'success', outputs: { leaves } });
    assert.deepEqual((await beside).result, { status: 'success', outputs: { leaves: 'nothing' } });
  }
  const text = 'What a node left running failed after the node had ended.';
  const who = { tenant: 'acme', pack: `${code.name}@1.0.0`, nodeId: 'node-1' };
  assert.deepEqual(logged, [
    [
      'warn',
      text,
      {
        ...who,
        runId: 'run-call',
        at: 'index.mjs:3:50',
        reason: 'kv.put was called after the node had ended.',
      },
    ],
    ['warn', text, { ...who, runId: 'run-throw', at: 'index.mjs:4:52', reason: 'left behind' }],
  ]);
  assert.equal(sandbox.stats().started, 1);
});
