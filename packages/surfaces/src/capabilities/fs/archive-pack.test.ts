/** Real pack code in the sandbox makes and reads archives, also as published packs ask for them. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { invocationOf, MIB, packOf, startSandbox } from '../../../../sandbox/src/testing/sandbox.ts';
import { createCursors } from '../../calls/cursor.ts';
import { openEmbeddedDatabase } from '../../sqlite/database.ts';
import { freshFolder } from '../../testing/data-dir.ts';
import { callGateOf, factsOf } from '../../testing/test-call-gate.ts';
import { openConverter } from './convert/converter.ts';
import { openFiles } from './files/open-files.ts';
import { implementFs } from './surface.ts';

const SOURCE = `
const codeOf = (work) => work.then(() => 'done', ({ code, message }) => [code, message]);
const bytesOf = (size) => new Uint8Array(size).fill(7).fill(8, size / 2);
const list = async (ctx) => (await ctx.fs.list({})).entries.map(({ path }) => path);
export const nodes = {
  'test.published': async (ctx) => {
    const entries = [{ path: 'd/a.txt', contentBase64: 'YQ==' }, { path: 'b', contentBase64: '' }];
    const found = [];
    for (const format of ['zip', 'tar', 'tar-gz']) {
      const { contentBase64, size } = await ctx.fs.archive.create({ format, entries });
      const back = await ctx.fs.archive.extract({ format, contentBase64 });
      found.push([size === Buffer.from(contentBase64, 'base64').length, JSON.stringify(back.entries) === JSON.stringify(entries)]);
    }
    return { found, files: await list(ctx) };
  },
  'test.files': async (ctx) => {
    const entries = [{ path: 'out/large', bytes: bytesOf(ctx.inputs.size) }, { path: 'out/small', bytes: bytesOf(3) }];
    const { bytes, contentType } = await ctx.fs.archive.create({ format: 'tar', entries });
    await ctx.fs.write({ path: 'made.tar', bytes, contentType });
    const made = await ctx.fs.read({ path: 'made.tar' });
    const back = await ctx.fs.archive.extract({ format: 'tar', bytes: made.bytes });
    for (const entry of back.entries) await ctx.fs.write(entry);
    const large = await ctx.fs.read({ path: 'out/large' });
    return { files: await list(ctx), same: Buffer.compare(large.bytes, bytesOf(ctx.inputs.size)) };
  },
  'test.refused': async (ctx) => {
    const entries = [{ path: 'fine', bytes: bytesOf(1) }, { path: 'lure', bytes: bytesOf(1) }];
    const { bytes } = await ctx.fs.archive.create({ format: 'zip', entries });
    const text = Buffer.from(bytes).toString('latin1').replaceAll('lure', '../x');
    const refused = await codeOf(ctx.fs.archive.extract({ format: 'zip', bytes: new Uint8Array(Buffer.from(text, 'latin1')) }));
    return { refused, files: await list(ctx) };
  },
};
`;

async function world(t: TestContext) {
  const folder = freshFolder();
  const database = await openEmbeddedDatabase({ dataDir: folder.path });
  const port = await openFiles({ database, dataDir: folder.path, quotaBytes: 1e8, now: Date.now });
  t.after(async () => {
    await database.close();
    folder.remove();
  });
  const cursors = createCursors(new Uint8Array(32).fill(7));
  const { callGate } = callGateOf([implementFs({ port, cursors, converter: openConverter() })]);
  const [sandbox, code] = await Promise.all([startSandbox(t), packOf(SOURCE)]);
  return async (typeId: string, inputs: { [name: string]: number } = {}) => {
    const calls = callGate.open(factsOf({ nodeId: typeId }));
    const invocation = invocationOf(code, {
      typeId,
      surfaces: callGate.table,
      limits: { memoryBytes: 512 * MIB, wallClockMs: 120_000, outputBytes: MIB },
      call: (path, args, io) => calls.call(path, args, io),
    });
    const { result } = await sandbox.invoke({ ...invocation, ctx: { ...invocation.ctx, inputs } });
    return result.status === 'success' ? result.outputs : result;
  };
}

test('archives in base64 and in bytes pass, and nothing of them is written', async (t) => {
  const run = await world(t);
  assert.deepEqual(await run('test.published'), {
    found: Array(3).fill([true, true]),
    files: [],
  });
  const { refused, files } = (await run('test.refused')) as { refused: [string, string]; files: string[] };
  assert.deepEqual([refused[0], files], ['path_outside_sandbox', []]);
  assert.match(refused[1], /"\.\.\/x"/);
  assert.deepEqual(await run('test.files', { size: 9 * MIB }), {
    files: ['made.tar', 'out/large', 'out/small'],
    same: 0,
  });
});
