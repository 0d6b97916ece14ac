/** Real pack code in the sandbox: the largest file and object go through, also as published packs ask for them. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { invocationOf, MIB, packOf, startSandbox } from '../../../../sandbox/src/testing/sandbox.ts';
import { TEXT_BYTES_MAX } from '../../calls/spelling.ts';
import { OBJECT_BYTES_MAX } from '../../ports/blobs.ts';
import { FILE_BYTES_MAX } from '../../ports/files.ts';
import { embeddedCallGate } from '../../testing/embedded-call-gate.ts';
import { factsOf } from '../../testing/test-call-gate.ts';

const SOURCE = `
import fs from 'node:fs';
const FILL = 120;
const bytesOf = (size) => new Uint8Array(size).fill(FILL);
const isFilled = (bytes) => Buffer.compare(bytes, bytesOf(bytes.length)) === 0;
const codeOf = (work) => work.then(() => 'done', ({ code, details, message }) => [code, details, message]);
export const nodes = {
  'test.large': async (ctx) => {
    const { size } = ctx.inputs;
    const at = { bucket: 'artifacts', key: 'large' };
    await ctx.fs.write({ path: 'a/large', bytes: bytesOf(size) });
    const file = await ctx.fs.read({ path: 'a/large' });
    const read = isFilled(file.bytes);
    const put = ctx.storage.blob.put({ ...at, bytes: file.bytes });
    file.bytes.fill(0);
    await put;
    const object = await ctx.storage.blob.get(at);
    const got = isFilled(object.bytes);
    return { sizes: [file.size, object.size], read, got, texts: [typeof file.content, typeof object.contentBase64] };
  },
  'test.many': async (ctx) => {
    const reads = Array.from({ length: ctx.inputs.reads }, () => ctx.fs.read({ path: 'a/large' }));
    return { sizes: (await Promise.all(reads)).map(({ size }) => size) };
  },
  'test.text': async (ctx) => {
    await ctx.fs.write({ path: 'text', bytes: bytesOf(ctx.inputs.size) });
    const { content } = await ctx.fs.read({ path: 'text', encoding: 'base64' });
    await ctx.storage.blob.put({ key: 'text', contentBase64: content });
    const object = await ctx.storage.blob.get({ key: 'text' });
    const larger = await ctx.storage.blob.get({ key: 'large' });
    const only = isFilled(larger.bytes) && typeof larger.contentBase64;
    return { size: object.size, same: object.contentBase64 === content && isFilled(object.bytes), only };
  },
  'test.refused': async (ctx) => {
    const tooLong = 'QUJD'.repeat(4.1 * 1024 * 1024);
    return {
      codes: [
        await codeOf(ctx.storage.blob.put({ key: 'k', contentBase64: tooLong })),
        await codeOf(ctx.storage.blob.put({ bucket: 'artifacts', key: 'k', bytes: bytesOf(34 * 1024 * 1024) })),
        await codeOf(ctx.storage.blob.put({ bucket: 'artifacts', key: 'k', bytes: bytesOf(ctx.inputs.size + 1) })),
        await codeOf(ctx.fs.write({ path: 'k', content: tooLong })),
        await codeOf(ctx.fs.read({ path: 'a/large', encoding: 'utf8' })),
        await codeOf(ctx.fs.write({ path: 'control', bytes: new Uint8Array(4 * 1024 * 1024).fill(1) })),
        await codeOf(ctx.fs.read({ path: 'control', encoding: 'utf8' })),
      ],
    };
  },
  'test.both': async (ctx) => {
    fs.writeFileSync('own', 'own');
    await ctx.fs.write({ path: 'shared', content: 'shared', encoding: 'utf8' });
    const { content } = await ctx.fs.read({ path: 'shared', encoding: 'utf8' });
    return { content, own: fs.readFileSync('own', 'utf8'), list: fs.readdirSync('.'), stat: (await ctx.fs.stat({ path: 'shared' })).size };
  },
};
`;

async function world(t: TestContext) {
  const [sandbox, { callGate }, code] = await Promise.all([
    startSandbox(t),
    embeddedCallGate(),
    packOf(SOURCE),
  ]);
  const run = async (typeId: string, inputs: { [name: string]: number }) => {
    const calls = callGate.open(factsOf({ nodeId: typeId }));
    const invocation = invocationOf(code, {
      typeId,
      surfaces: callGate.table,
      grants: ['fs.read', 'fs.write'],
      limits: { memoryBytes: 512 * MIB, wallClockMs: 120_000, outputBytes: MIB },
      call: (path, args, io) => calls.call(path, args, io),
    });
    const { result } = await sandbox.invoke({ ...invocation, ctx: { ...invocation.ctx, inputs } });
    return result.status === 'success' ? result.outputs : result;
  };
  return { sandbox, run };
}

test('the largest file and object pass as bytes, and as text what fits', async (t) => {
  const { sandbox, run } = await world(t);
  assert.deepEqual(await run('test.large', { size: FILE_BYTES_MAX }), {
    sizes: [FILE_BYTES_MAX, OBJECT_BYTES_MAX],
    read: true,
    got: true,
    texts: ['undefined', 'undefined'],
  });
  // More than one tenant's share of the room: the last are read when the first have been taken
  assert.deepEqual(await run('test.many', { reads: 6 }), { sizes: Array(6).fill(FILE_BYTES_MAX) });
  assert.deepEqual(await run('test.text', { size: TEXT_BYTES_MAX }), {
    size: TEXT_BYTES_MAX,
    same: true,
    only: 'undefined',
  });
  const { codes } = (await run('test.refused', { size: OBJECT_BYTES_MAX })) as {
    codes: [string, Record<string, number>, string][];
  };
  assert.deepEqual(
    codes.map((each) => (typeof each === 'string' ? each : each[0])),
    [
      'blob_object_too_large',
      'blob_object_too_large',
      'blob_object_too_large',
      'file_too_large',
      'file_too_large',
      'done',
      'file_too_large',
    ],
  );
  assert.deepEqual(codes[0]?.[1], { maxJsonBytes: 16 * MIB, maxBytes: 33 * MIB, maxValues: 1_000_000 });
  assert.match(codes[0]?.[2] ?? '', /16777216.*bytes instead of base64/);
  assert.equal(codes[4]?.[1].maxTextBytes, TEXT_BYTES_MAX);
  assert.equal(sandbox.stats().started, 1, 'no call that was too large ended the process');
});

test('granted files stay apart', async (t) => {
  const { run } = await world(t);
  assert.deepEqual(await run('test.both', {}), { content: 'shared', own: 'own', list: ['own'], stat: 6 });
});
