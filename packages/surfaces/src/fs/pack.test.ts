/** Real pack code in the sandbox: the largest file and object go through, also as published packs ask for them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { invocationOf, MIB, packOf, startSandbox } from '../../../sandbox/src/testing/sandbox.ts';
import { FILE_BYTES_MAX } from '../ports/files.ts';
import { embeddedDesk, factsOf } from '../testing/desk.ts';

const SOURCE = `
import fs from 'node:fs';
const FILL = 120;
export const nodes = {
  'test.large': async (ctx) => {
    const { size } = ctx.inputs;
    await ctx.fs.write({ path: 'a/large', bytes: new Uint8Array(size).fill(FILL) });
    const file = await ctx.fs.read({ path: 'a/large' });
    const wrong = file.bytes.findIndex((byte) => byte !== FILL);
    const contentBase64 = file.content;
    await ctx.storage.blob.put({ key: 'large', contentBase64 });
    const object = await ctx.storage.blob.get({ key: 'large' });
    return { sizes: [file.size, object.size], wrong, same: object.contentBase64 === contentBase64 };
  },
  'test.both': async (ctx) => {
    fs.writeFileSync('own', 'own');
    await ctx.fs.write({ path: 'shared', content: 'shared', encoding: 'utf8' });
    const { content } = await ctx.fs.read({ path: 'shared', encoding: 'utf8' });
    return { content, own: fs.readFileSync('own', 'utf8'), list: fs.readdirSync('.'), stat: (await ctx.fs.stat({ path: 'shared' })).size };
  },
};
`;

test('the largest file and object pass, and granted files stay apart', async (t) => {
  const [sandbox, { desk }, code] = await Promise.all([startSandbox(t), embeddedDesk(t), packOf(SOURCE)]);
  const run = async (typeId: string, inputs: { [name: string]: number }) => {
    const calls = desk.open(factsOf({ nodeId: typeId }));
    const invocation = invocationOf(code, {
      ...{ typeId, surfaces: desk.table, grants: ['fs.read', 'fs.write'] },
      limits: { memoryBytes: 256 * MIB, wallClockMs: 30_000, outputBytes: MIB },
      call: (path, args, io) => calls.call(path, args, io),
    });
    const { result } = await sandbox.invoke({ ...invocation, ctx: { ...invocation.ctx, inputs } });
    return result.status === 'success' ? result.outputs : result;
  };
  assert.deepEqual(await run('test.large', { size: FILE_BYTES_MAX }), {
    ...{ sizes: [FILE_BYTES_MAX, FILE_BYTES_MAX], wrong: -1, same: true },
  });
  assert.deepEqual(await run('test.both', {}), { content: 'shared', own: 'own', list: ['own'], stat: 6 });
});
