/** Who shares a process, how many there are, and what happens to neighbours. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Invocation, InvocationOutcome } from './invocation.ts';
import { invocationOf, MIB, nodePack, startSandbox } from './testing/sandbox.ts';

const counter = () => nodePack('count += 1; return { count };', 'let count = 0;');

const countOf = ({ result }: InvocationOutcome) => result.status === 'success' && result.outputs.count;

const keyOf = (tenant: string, workspace = 'main', principal = 'ada') => ({ tenant, workspace, principal });

test('the same key shares a process; another tenant, workspace, principal or grant never does', async (t) => {
  const sandbox = await startSandbox(t, { warmMax: 8 });
  const code = await counter();
  const counts = async (overrides: Partial<Invocation>) =>
    countOf(await sandbox.invoke(invocationOf(code, overrides)));
  assert.equal(await counts({ key: keyOf('a') }), 1);
  assert.equal(await counts({ key: keyOf('a') }), 2);
  assert.equal(await counts({ key: keyOf('b') }), 1);
  assert.equal(await counts({ key: keyOf('a', 'other') }), 1);
  assert.equal(await counts({ key: keyOf('a', 'main', 'bob') }), 1);
  assert.equal(await counts({ key: keyOf('a'), grants: ['crypto'] }), 1);
  assert.equal(await counts({ key: keyOf('a') }), 3);
  assert.equal(sandbox.stats().warm, 5);
});

/** The launchers of this process that really exist. */
const processes = (): number =>
  readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').split(' ').filter(Boolean).length;

test('the cap on processes holds under load, and everybody has a turn', async (t) => {
  const sandbox = await startSandbox(t, { warmMax: 2 });
  const code = await nodePack('await ctx.emit({}); return {};');
  let most = 0;
  const emit = () => {
    most = Math.max(most, processes(), sandbox.stats().warm);
  };
  const load = Array.from({ length: 24 }, (_, index) =>
    invocationOf(code, { key: keyOf(`tenant-${index % 5}`), repeatable: index % 3 > 0, emit }),
  );
  const outcomes = await Promise.all(load.map((invocation) => sandbox.invoke(invocation)));
  assert.ok(outcomes.every(({ result }) => result.status === 'success'));
  assert.ok(most <= 2, `${most} processes`);
  assert.equal(sandbox.stats().waiting, 0);
});

test('packs that nobody uses cost nothing', async (t) => {
  const sandbox = await startSandbox(t);
  const codes = await Promise.all(Array.from({ length: 50 }, counter));
  const [first] = codes;
  assert.equal(processes(), 0);
  assert.ok(first && countOf(await sandbox.invoke(invocationOf(first))) === 1);
  assert.equal(processes(), 1);
});

async function until(holds: () => boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setInterval(() => holds() && resolve(), 10);
  await promise.finally(() => clearInterval(timer));
}

test('an idle process leaves', async (t) => {
  const sandbox = await startSandbox(t, { idleMs: 50 });
  await sandbox.invoke(invocationOf(await counter()));
  await until(() => sandbox.stats().warm === 0);
  assert.equal(sandbox.stats().started, 1);
});

test('an idle process sleeps, and works on when it is needed', async (t) => {
  const sandbox = await startSandbox(t);
  const code = await counter();
  await sandbox.invoke(invocationOf(code));
  await until(() => sandbox.stats().asleep === 1);
  assert.equal(countOf(await sandbox.invoke(invocationOf(code))), 2);
  assert.equal(sandbox.stats().started, 1);
});

const neighbours = async (t: Parameters<typeof startSandbox>[0], guilty: string, wallClockMs: number) => {
  const sandbox = await startSandbox(t);
  const code = await nodePack(`
    if (ctx.inputs.guilty) { await ctx.emit({}); ${guilty} }
    await ctx.wait({}); return { fine: true };`);
  const dispatches: number[] = [];
  const call: Invocation['call'] = async (_, __, io) => {
    dispatches.push(io.dispatch);
    if (io.dispatch === 0) await new Promise(() => {});
    return null;
  };
  const limits = { memoryBytes: 64 * MIB, wallClockMs, outputBytes: MIB };
  const base = invocationOf(code, {
    surfaces: { wait: 'unary' },
    call,
    limits: { ...limits, wallClockMs: 60_000 },
  });
  const honest = [sandbox.invoke(base), sandbox.invoke(base)];
  const bad = sandbox.invoke({ ...base, limits, ctx: { ...base.ctx, inputs: { guilty: true } } });
  const outcomes = await Promise.all(honest);
  for (const { result } of outcomes) assert.deepEqual(result, { status: 'success', outputs: { fine: true } });
  assert.ok(dispatches.includes(1), 'they were dispatched again');
  const { result } = await bad;
  return result.status === 'error' ? result.error.code : result.status;
};

test('neighbours of one that never answers are dispatched again', async (t) => {
  assert.equal(await neighbours(t, 'await new Promise(() => {});', 500), 'sandbox_timeout');
});

test('when nobody can say who holds up the process, each runs alone and the guilty one is found', async (t) => {
  assert.equal(await neighbours(t, 'for (;;);', 500), 'sandbox_timeout');
});

test('neighbours of a memory bomb are dispatched again', async (t) => {
  const bomb = 'const all = []; for (;;) all.push(new Uint8Array(4_000_000).fill(1));';
  assert.equal(await neighbours(t, bomb, 30_000), 'sandbox_memory_exceeded');
});
