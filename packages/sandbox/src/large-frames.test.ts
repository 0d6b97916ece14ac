/** Frames that are too large fail alone; large ones wait for room. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FrameRoom, frameRoom, LARGE_FRAME_BYTES } from './credit.ts';
import type { Data, Invocation, InvocationOutcome } from './invocation.ts';
import { pythonPack, startPythonSandbox } from './testing/python.ts';
import { invocationOf, MIB, nodePack, startSandbox } from './testing/sandbox.ts';

const LIMITS = { memoryBytes: 256 * MIB, wallClockMs: 20_000, outputBytes: MIB };
const SURFACES = {
  ...({ 'storage.blob.put': 'unary', 'storage.kv.put': 'unary', 'storage.cache.put': 'unary' } as const),
  ...({ echo: 'unary', look: 'sync' } as const),
};
const echo: Pick<Invocation, 'surfaces' | 'limits' | 'call'> = {
  ...{ surfaces: SURFACES, limits: LIMITS },
  call: async (_, [value]) => value,
};

function outputsOf({ result }: InvocationOutcome) {
  assert.equal(result.status, 'success', JSON.stringify(result));
  return result.status === 'success' ? result.outputs : {};
}

test('a call that no frame can carry fails alone: later calls, neighbours and the process go on', async (t) => {
  const sandbox = await startSandbox(t);
  const body = `
    const codeOf = (work) => work.then(() => 'done', ({ code }) => code);
    const text = 'x'.repeat(17 * 1024 * 1024);
    const bytes = new Uint8Array(34 * 1024 * 1024);
    const codes = [];
    for (const value of [text, bytes, 10n]) codes.push(await codeOf(ctx.echo(value)));
    for (const { put } of [ctx.storage.blob, ctx.storage.kv, ctx.storage.cache]) codes.push(await codeOf(put(text)));
    codes.push(await codeOf(ctx.emit(text)));
    try { ctx.look(text); } catch ({ code }) { codes.push(code); }
    return { codes, after: [await ctx.echo(1), ctx.look(2)] };`;
  const neighbour = `const heard = []; for (let n = 0; n < 200; n++) heard.push(await ctx.echo(n)); return { heard: heard.length };`;
  const code = await nodePack(`if (ctx.inputs.neighbour) { ${neighbour} } ${body}`);
  const logs: string[] = [];
  const invocation = invocationOf(code, { ...echo, log: (_, message) => void logs.push(message) });
  const beside = { ...invocation, ctx: { ...invocation.ctx, inputs: { neighbour: true } } };
  const [large, ...others] = await Promise.all([
    sandbox.invoke(invocation),
    sandbox.invoke(beside),
    sandbox.invoke(beside),
  ]);
  const plain = 'sandbox_invocation_error';
  assert.deepEqual(outputsOf(large), {
    codes: [
      ...[plain, plain, plain],
      ...['blob_object_too_large', 'kv_value_too_large', 'cache_value_too_large', null, plain],
    ],
    after: [1, 2],
  });
  assert.deepEqual(others.map(outputsOf), [{ heard: 200 }, { heard: 200 }]);
  assert.match(logs.join(), /An event was dropped: A message may have 16777216 bytes of JSON/);
  assert.deepEqual([sandbox.stats().started, sandbox.stats().displaced], [1, 0]);
});

test('an answer that no frame can carry fails its call, and bytes of 32 MiB pass both ways', async (t) => {
  const sandbox = await startSandbox(t);
  const code = await nodePack(`
    const refused = await ctx.echo('text').catch(({ code, message }) => [code, message]);
    const bytes = await ctx.echo(new Uint8Array(32 * 1024 * 1024).fill(7));
    return { refused, length: bytes.length, same: Buffer.compare(bytes, Buffer.alloc(32 << 20, 7)), own: bytes.buffer.byteLength };`);
  const call = async (_: string, [value]: readonly Data[]) =>
    value === 'text' ? 'x'.repeat(17 * MIB) : value;
  const { refused, ...rest } = outputsOf(await sandbox.invoke(invocationOf(code, { ...echo, call })));
  assert.match(String(refused), /^sandbox_invocation_error,The answer is too large.*16777216 bytes of JSON/);
  assert.deepEqual(rest, { length: 32 * MIB, same: 0, own: 32 * MIB });
});

test('bytes that wait for credit are those of the moment of the call', async (t) => {
  const sandbox = await startSandbox(t);
  const code = await nodePack(`
    const size = 5 * 1024 * 1024;
    const bytes = new Uint8Array(size);
    const calls = [1, 2, 3, 4, 5].map((value) => ctx.echo(bytes.fill(value)));
    const heard = await Promise.all(calls);
    return { heard: heard.map((each, n) => Buffer.compare(each, Buffer.alloc(size, n + 1))) };`);
  const { heard } = outputsOf(await sandbox.invoke(invocationOf(code, echo)));
  assert.deepEqual(heard, [0, 0, 0, 0, 0]);
});

test('the same for Python', async (t) => {
  const sandbox = await startPythonSandbox(t);
  if (!sandbox) return;
  const body = `
codes = []
for work in (lambda: ctx.echo('x' * (17 << 20)), lambda: ctx.echo(bytes(34 << 20)), lambda: ctx.echo(object()),
             lambda: ctx.storage.blob.put('x' * (17 << 20)), lambda: ctx.emit('x' * (17 << 20))):
    try:
        work()
        codes.append('done')
    except Exception as error:
        codes.append(getattr(error, 'code', type(error).__name__))
large = ctx.echo(b'\\x07' * (32 << 20))
return {'codes': codes, 'length': len(large), 'right': large == b'\\x07' * (32 << 20), 'kind': type(large).__name__}`;
  const code = await pythonPack(body.trim());
  const outputs = outputsOf(await sandbox.invoke(invocationOf(code, echo)));
  const plain = 'sandbox_invocation_error';
  assert.deepEqual(outputs, {
    codes: [plain, plain, plain, 'blob_object_too_large', 'TooLarge'],
    ...{ length: 32 * MIB, right: true, kind: 'bytes' },
  });
});

test('large frames share their room in the order of their coming', async () => {
  const room = new FrameRoom(100);
  const order: string[] = [];
  const take = async (name: string, bytes: number) => {
    const leave = await room.take(bytes);
    order.push(name);
    return leave;
  };
  const [first, second, third] = [take('first', 60), take('second', 60), take('third', 10)];
  const leaveFirst = await first;
  assert.deepEqual(order, ['first'], 'nobody is overtaken');
  leaveFirst();
  leaveFirst();
  await Promise.all([second, third]);
  const fourth = take('fourth', 40);
  (await third)();
  (await fourth)();
  assert.deepEqual(order, ['first', 'second', 'third', 'fourth']);
});

test('without room a large call waits, and what is small goes on', async (t) => {
  const sandbox = await startSandbox(t);
  const code = await nodePack('return { size: await ctx.echo(new Uint8Array(ctx.inputs.size)) };');
  const arrived: number[] = [];
  const call = async (_: string, [value]: readonly Data[]) => {
    const size = value instanceof Uint8Array ? value.byteLength : 0;
    arrived.push(size);
    return size;
  };
  const send = (size: number, tenant: string) => {
    const invocation = invocationOf(code, { ...echo, call });
    const key = { ...invocation.key, tenant };
    return sandbox.invoke({ ...invocation, key, ctx: { ...invocation.ctx, inputs: { size } } });
  };
  await send(1, 'large');
  const leave = await frameRoom.take(256 * MIB - LARGE_FRAME_BYTES);
  const large = send(2 * LARGE_FRAME_BYTES, 'large');
  for (let n = 0; n < 3; n++) await send(LARGE_FRAME_BYTES / 2, 'small');
  assert.deepEqual(arrived, [1, ...Array(3).fill(LARGE_FRAME_BYTES / 2)]);
  leave();
  assert.deepEqual(outputsOf(await large), { size: 2 * LARGE_FRAME_BYTES });
  const all = await frameRoom.take(256 * MIB);
  all();
});
