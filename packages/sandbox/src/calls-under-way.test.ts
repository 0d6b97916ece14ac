/** How many calls of a process the host works on at once, and what is left of them when it ends. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { answerMemory } from './call-gate.ts';
import { frameMemory } from './frame-reader.ts';
import type { Data, Invocation } from './invocation.ts';
import { invocationOf, MIB, nodePack, startSandbox } from './testing/sandbox.ts';

const LIMITS = { memoryBytes: 256 * MIB, wallClockMs: 120_000, outputBytes: MIB };
const SURFACES = { get: 'unary', look: 'sync', hear: 'stream', wait: 'unary' } as const;

const fill = (tenant: string) => answerMemory.hold(tenant, 512 * MIB);

test('calls that nobody takes the answers of stay few, whatever they would bring', async (t) => {
  const sandbox = await startSandbox(t);
  const code = await nodePack(`
    const lengths = Array.from({ length: 200 }, () => ctx.get().then(({ length }) => length));
    await null;
    const begun = ctx.look();
    return { begun, lengths: [...new Set(await Promise.all(lengths))] };`);
  // More than the system takes of one on its way to a child that does not read
  const large = 'x'.repeat(MIB / 2);
  let begun = 0;
  const call = async (method: string): Promise<Data> => {
    if (method === 'get') {
      begun += 1;
      return large;
    }
    for (let turn = 0; turn < 200; turn++) await setImmediate();
    return begun;
  };
  const { result } = await sandbox.invoke(invocationOf(code, { surfaces: SURFACES, limits: LIMITS, call }));
  assert.deepEqual(result, { status: 'success', outputs: { begun: 128, lengths: [MIB / 2] } });
  assert.equal(begun, 200);
  assert.equal(answerMemory.stats().held, 0);
});

test('invocations in one process take turns, and each keeps its order', async (t) => {
  const sandbox = await startSandbox(t);
  const code = await nodePack(`
    const { count, isLate } = ctx.inputs;
    if (isLate) await ctx.wait();
    await Promise.all(Array.from({ length: count }, (_, at) => ctx.get(at)));
    return {};`);
  const begun: Record<string, number[]> = { many: [], few: [] };
  const { promise: full, resolve: isFull } = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const invoke = (name: 'many' | 'few', count: number) => {
    const call: Invocation['call'] = async (method, [at]) => {
      if (method === 'wait') return full.then(() => null);
      begun[name]?.push(Number(at));
      if (begun.many?.length === 128) isFull();
      if (begun.few?.length === 0) await release.promise;
      return null;
    };
    const invocation = invocationOf(code, { surfaces: SURFACES, limits: LIMITS, call });
    return sandbox.invoke({
      ...invocation,
      ctx: { ...invocation.ctx, inputs: { count, isLate: name === 'few' } },
    });
  };
  const ended = Promise.all([invoke('many', 2000), invoke('few', 50)]);
  await full;
  for (let turn = 0; turn < 50; turn++) await setImmediate();
  release.resolve();
  for (const { result } of await ended) assert.equal(result.status, 'success', JSON.stringify(result));
  assert.deepEqual(begun.many, [...Array(2000).keys()]);
  assert.deepEqual(begun.few, [...Array(50).keys()]);
  assert.equal(sandbox.stats().started, 1);
});

test('a process goes on while others hold all the room for answers', async (t) => {
  const sandbox = await startSandbox(t);
  const code = await nodePack(
    `await Promise.all(Array.from({ length: 300 }, () => ctx.get())); return { done: true };`,
  );
  const others = ['a', 'b', 'acme'].map(fill);
  let most = 0;
  let underWay = 0;
  const call = async (): Promise<Data> => {
    underWay += 1;
    most = Math.max(most, underWay);
    await setImmediate();
    underWay -= 1;
    return null;
  };
  const { result } = await sandbox.invoke(invocationOf(code, { surfaces: SURFACES, limits: LIMITS, call }));
  for (const release of others) release();
  assert.deepEqual(result, { status: 'success', outputs: { done: true } });
  assert.equal(most, 4);
});

test('calls of a node that fails end with it, and its process goes on', async (t) => {
  const sandbox = await startSandbox(t);
  const code = await nodePack(`
    for (let at = 0; at < ctx.inputs.count; at++) void ctx.get(at);
    if (ctx.inputs.looks) ctx.look();
    if (ctx.inputs.count > 0) throw new Error('enough');
    return {};`);
  const logs: string[] = [];
  const call = async (method: string) => (method === 'look' ? null : new Promise<Data>(() => {}));
  const base = invocationOf(code, {
    surfaces: SURFACES,
    limits: LIMITS,
    call,
    log: (_, message) => void logs.push(message),
  });
  for (const inputs of [{ count: 10_000 }, { count: 10_000, looks: true }, { count: 0 }]) {
    const { result } = await sandbox.invoke({ ...base, ctx: { ...base.ctx, inputs } });
    assert.equal(
      result.status === 'error' ? result.error.message : result.status,
      inputs.count ? 'enough' : 'success',
    );
  }
  assert.match(logs.join(), /^The node ended before \d+ of its calls had begun; they were not made\./);
  assert.equal(sandbox.stats().started, 1);
});

const DYING = `
  const large = new Uint8Array(ctx.inputs.bytes);
  const streams = Array.from({ length: 20 }, () => ctx.hear());
  for (const stream of streams) void stream.next().catch(() => {});
  void ctx.wait(large).catch(() => {});
  await new Promise((resolve) => setImmediate(resolve));
  for (;;);`;

test('whatever a process held is given back when it is killed amid streams and large calls', async (t) => {
  const sandbox = await startSandbox(t);
  const code = await nodePack(DYING);
  let open = 0;
  const { promise: settled, resolve } = Promise.withResolvers<void>();
  const { promise: hasLarge, resolve: isLarge } = Promise.withResolvers<void>();
  const call: Invocation['call'] = async (method, _, io) => {
    open += 1;
    try {
      if (method === 'wait') {
        isLarge();
        await new Promise((_, reject) => io.signal.addEventListener('abort', reject));
      }
      for (let event = 0; ; event++) await io.send(event);
    } finally {
      open -= 1;
      if (open === 0) resolve();
    }
  };
  const invocation = invocationOf(code, {
    surfaces: SURFACES,
    call,
    repeatable: false,
    // Long enough for the large call to arrive.
    limits: { ...LIMITS, wallClockMs: 5_000 },
  });
  const inputs = { bytes: 32 * MIB };
  const outcome = sandbox.invoke({ ...invocation, ctx: { ...invocation.ctx, inputs } });
  await hasLarge;
  assert.ok(frameMemory.stats().held >= 32 * MIB);
  const { result } = await outcome;
  assert.equal(result.status === 'error' && result.error.code, 'sandbox_timeout');
  await settled;
  assert.deepEqual([frameMemory.stats().held, answerMemory.stats().held, open], [0, 0, 0]);
});

test('also what it was sending or waiting to send, and what the host never ends', async (t) => {
  const sandbox = await startSandbox(t, { warmMax: 8 });
  const code = await nodePack('await ctx.wait(new Uint8Array(ctx.inputs.bytes)); return {};');
  const call = () => new Promise<Data>(() => {});
  const invocation = invocationOf(code, {
    surfaces: SURFACES,
    call,
    repeatable: false,
    limits: { ...LIMITS, wallClockMs: 1_500 },
  });
  const inputs = { bytes: 32 * MIB };
  const all = Array.from({ length: 5 }, () =>
    sandbox.invoke({ ...invocation, ctx: { ...invocation.ctx, inputs } }),
  );
  for (const { result } of await Promise.all(all))
    assert.equal(result.status === 'error' && result.error.code, 'sandbox_timeout');
  assert.deepEqual([frameMemory.stats().held, answerMemory.stats().held], [0, 0]);
});
