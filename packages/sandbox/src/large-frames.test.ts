/** Frames that are too large fail alone; large ones wait for room. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { frameMemory, LARGE_FRAME_BYTES } from './frame-reader.ts';
import type { Data, Invocation, InvocationOutcome } from './invocation.ts';
import { pythonPack, startPythonSandbox } from './testing/python.ts';
import { invocationOf, MIB, nodePack, startSandbox } from './testing/sandbox.ts';

const LIMITS = { memoryBytes: 256 * MIB, wallClockMs: 120_000, outputBytes: MIB };
const SURFACES = {
  ...({ 'storage.blob.put': 'unary', 'storage.kv.put': 'unary', 'storage.cache.put': 'unary' } as const),
  ...({ echo: 'unary', look: 'sync' } as const),
};
const echo: Pick<Invocation, 'surfaces' | 'limits' | 'call'> = {
  surfaces: SURFACES,
  limits: LIMITS,
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
      plain,
      plain,
      plain,
      'blob_object_too_large',
      'kv_value_too_large',
      'cache_value_too_large',
      null,
      plain,
    ],
    after: [1, 2],
  });
  assert.deepEqual(others.map(outputsOf), [{ heard: 200 }, { heard: 200 }]);
  assert.match(
    logs.join(),
    /An event was dropped: A log entry or event can have at most 66560 bytes; this one has more\./,
  );
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
  assert.match(
    String(refused),
    /^sandbox_invocation_error,echo: the answer is too large\. It takes \d+ bytes as JSON; at most 16777216 fit/,
  );
  assert.deepEqual(rest, { length: 32 * MIB, same: 0, own: 32 * MIB });
});

test('so does an event', async (t) => {
  const sandbox = await startSandbox(t);
  const code = await nodePack(`
    const heard = [];
    try { for await (const event of ctx.hear()) heard.push(event); } catch ({ code }) { heard.push(code); }
    return { heard };`);
  const call: Invocation['call'] = async (_, __, io) => {
    for (const event of [1, 'x'.repeat(17 * MIB), 2]) await io.send(event);
    return null;
  };
  const hearing = { ...echo, surfaces: { hear: 'stream' }, call } as const;
  const { heard } = outputsOf(await sandbox.invoke(invocationOf(code, hearing)));
  assert.deepEqual(heard, [1, 'sandbox_invocation_error']);
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
    length: 32 * MIB,
    right: true,
    kind: 'bytes',
  });
});

test('a call with too many values fails alone, and one that is all text passes', async (t) => {
  const sandbox = await startSandbox(t);
  const code = await nodePack(`
    const codeOf = (work) => work.then(() => 'done', ({ code, message }) => [code, /1000000 values/.test(message)]);
    const put = (value) => codeOf(ctx.storage.kv.put({ key: 'k', value }));
    const members = Object.fromEntries(Array.from({ length: 110_000 }, (_, at) => ['k' + at, 0]));
    return { codes: [await put(Array(1_000_000).fill(0)), await put(members), await put(',[{:'.repeat(300_000)), await put(1)] };`);
  const { codes } = outputsOf(await sandbox.invoke(invocationOf(code, echo)));
  const refused = ['kv_value_too_large', true];
  assert.deepEqual(codes, [refused, refused, 'done', 'done']);
  assert.equal(sandbox.stats().started, 1);
});

const noted = () => {
  const heard: unknown[] = [];
  const said: string[] = [];
  return {
    heard,
    said,
    emit: (value: Data) => void heard.push(value),
    log: (_: string, message: string, data?: Data) => void said.push(data === undefined ? message : 'data'),
  };
};

test('a log entry or an event of more than 64 KiB is dropped and says so', async (t) => {
  const sandbox = await startSandbox(t);
  const code = await nodePack(`
    const [small, large] = ['x'.repeat(64_000), 'x'.repeat(70_000)];
    for (const data of [small, large]) ctx.log('info', 'said', { data });
    await ctx.emit(small);
    return { refused: await ctx.emit(large).catch(({ message }) => message) };`);
  const notes = noted();
  const { refused } = outputsOf(await sandbox.invoke(invocationOf(code, { ...echo, ...notes })));
  const reason = /A log entry or event can have at most 66560 bytes; this one has 70\d\d\d\./;
  assert.match(String(refused), reason);
  assert.deepEqual([notes.heard.length, notes.said[0]], [1, 'data']);
  assert.match(notes.said[1] ?? '', reason);
  assert.match(notes.said[2] ?? '', /^An event was dropped: /);
});

test('the same of values, log entries and events for Python', async (t) => {
  const sandbox = await startPythonSandbox(t);
  if (!sandbox) return;
  const code = await pythonPack(
    `
codes = []
for value in ([0] * 1_000_000, dict.fromkeys(map(str, range(110_000)), 0), ',[{:' * 300_000, [0] * 999_900):
    try:
        ctx.storage.kv.put(value)
        codes.append('done')
    except Exception as error:
        codes.append(error.code)
for size in (64_000, 70_000):
    ctx.log('info', 'said', {'data': 'x' * size})
    try:
        ctx.emit('x' * size)
    except Exception as error:
        codes.append(str(error)[:40])
return {'codes': codes}`.trim(),
  );
  const notes = noted();
  const { codes } = outputsOf(await sandbox.invoke(invocationOf(code, { ...echo, ...notes })));
  const refused = 'kv_value_too_large';
  assert.deepEqual(codes, [refused, refused, 'done', 'done', 'A log entry or event can have at most 66']);
  assert.deepEqual([notes.heard.length, notes.said[0]], [1, 'data']);
  assert.match(
    notes.said[1] ?? '',
    /^said \(Its data was dropped: A log entry or event can have at most 66560 bytes; this one has 70/,
  );
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
  const bytes = 128 * MIB - LARGE_FRAME_BYTES / 2;
  const others = ['a', 'b'].map((tenant) => frameMemory.hold(tenant, bytes));
  const large = send(2 * LARGE_FRAME_BYTES, 'large');
  for (let n = 0; n < 3; n++) await send(LARGE_FRAME_BYTES / 2, 'small');
  assert.deepEqual(arrived, [1, ...Array(3).fill(LARGE_FRAME_BYTES / 2)]);
  for (const release of others) release();
  assert.deepEqual(outputsOf(await large), { size: 2 * LARGE_FRAME_BYTES });
  assert.equal(frameMemory.stats().held, 0);
});
