/** What acts on the world: it never runs twice by itself, and no neighbour puts it in doubt. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { Job } from './job.ts';
import { PackProcess } from './pack-process.ts';
import {
  egress,
  invocationOf,
  MIB,
  nodePack,
  packOf,
  scratchFolder,
  startSandbox,
} from './testing/sandbox.ts';

test('it shares a warm process, but never at the same time', async (t) => {
  const sandbox = await startSandbox(t, { warmMax: 1 });
  const code = await nodePack('await ctx.begin(); await ctx.end(); return {};');
  const underWay = { repeatable: 0, exclusive: 0 };
  const clashes: string[] = [];
  const invocations = [false, true, false, true, true, false].map((repeatable) => {
    const kind = repeatable ? 'repeatable' : 'exclusive';
    const call = async (method: string) => {
      if (underWay.exclusive + (repeatable ? 0 : underWay.repeatable) > 0 && method === 'begin')
        clashes.push(kind);
      underWay[kind] += method === 'begin' ? 1 : -1;
      return null;
    };
    return invocationOf(code, { repeatable, surfaces: { begin: 'unary', end: 'unary' }, call });
  });
  const outcomes = await Promise.all(invocations.map((invocation) => sandbox.invoke(invocation)));
  assert.ok(outcomes.every(({ result }) => result.status === 'success'));
  assert.deepEqual(clashes, []);
  assert.equal(sandbox.stats().started, 1);
});

test('it is dispatched once, whatever ends its process', async (t) => {
  const sandbox = await startSandbox(t);
  const dispatches: number[] = [];
  const acted = Promise.withResolvers<void>();
  const acting = sandbox.invoke(
    invocationOf(await nodePack('await ctx.act(); await new Promise(() => {});'), {
      repeatable: false,
      surfaces: { act: 'unary' },
      call: async (_, __, io) => {
        dispatches.push(io.dispatch);
        acted.resolve();
        return null;
      },
    }),
  );
  await acted.promise;
  const [launcher] = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').split(' ');
  process.kill(Number(launcher), 'SIGKILL');
  const { result } = await acting;
  assert.deepEqual(result.status === 'error' && [result.error.code, result.origin], [
    'sandbox_invocation_error',
    'process',
  ]);
  assert.deepEqual([dispatches, sandbox.stats().displaced], [[0], 0]);
});

/** Says that it is ready, reads for a while, ends. */
const SHORT_LIVED = `
  import { readSync, writeSync } from 'node:fs';
  import { encode } from '${new URL('./runner/wire.mjs', import.meta.url).href}';
  writeSync(4, encode({ type: 'ready', typeIds: [] })[0]);
  for (let heard = ''; heard.split('"invoke"').length < 3; ) {
    const chunk = new Uint8Array(65536);
    heard += Buffer.from(chunk.slice(0, readSync(3, chunk))).toString();
  }`;

test('should it ever have neighbours, a process that ends displaces only what may be repeated', async () => {
  const file = path.join(await scratchFolder(), 'main.mjs');
  await writeFile(file, SHORT_LIVED);
  const child = new PackProcess({
    command: { file: process.execPath, args: [file], folder: '/', release: () => {} },
    open: { type: 'open' },
    memoryBytes: 256 * MIB,
    loadMs: 20_000,
    grants: [],
    environment: {},
    onLate: () => {},
    onEnd: () => {},
    context: { egress, tenant: 'acme', filesFolder: '/nowhere', fault: () => {} },
  });
  await child.opened;
  const code = await packOf('');
  const jobs = [true, false].map((repeatable) => new Job(invocationOf(code, { repeatable }), 0));
  for (const job of jobs) child.start(job);
  const ends = await Promise.all(jobs.map((job) => job.ended));
  assert.deepEqual(
    ends.map(({ kind }) => kind),
    ['displaced', 'stopped'],
  );
  await child.ended;
});

test('a module that goes down as soon as it has loaded is not started for ever', async (t) => {
  const sandbox = await startSandbox(t);
  const code = await nodePack(
    'await new Promise(() => {});',
    'setImmediate(() => { throw new Error("late"); });',
  );
  const { result } = await sandbox.invoke(invocationOf(code));
  assert.equal(result.status, 'error', JSON.stringify(result));
  assert.ok(sandbox.stats().started <= 6);
});

/** How each of these ways to fail is told, with what the code claims. */
const ORIGINS = {
  "throw Object.assign(new Error('no'), { code: 'sandbox_timeout' });": ['sandbox_timeout', 'pack'],
  "throw new Error('no');": ['sandbox_invocation_error', 'pack'],
  "return { text: 'x'.repeat(2_000_000) };": ['sandbox_invocation_error', 'pack'],
  "setTimeout(() => { throw Object.assign(new Error('no'), { code: 'OWN' }); }); await new Promise(() => {});":
    ['OWN', 'process'],
  'for (;;);': ['sandbox_timeout', 'host'],
};

test('who says that a node failed is seen by how it ended, not by its code', async (t) => {
  const sandbox = await startSandbox(t);
  const seen: unknown[] = [];
  for (const body of Object.keys(ORIGINS)) {
    const wallClockMs = body.startsWith('for (;;)') ? 1_000 : 60_000;
    const limits = { memoryBytes: 64 * MIB, wallClockMs, outputBytes: MIB };
    const { result } = await sandbox.invoke(
      invocationOf(await nodePack(body), { repeatable: false, limits }),
    );
    seen.push(result.status === 'error' && [result.error.code, result.origin]);
  }
  assert.deepEqual(seen, Object.values(ORIGINS));
  const { result } = await sandbox.invoke(
    invocationOf(await nodePack('', 'throw new Error("at load");'), { repeatable: false }),
  );
  assert.equal(result.status === 'error' && result.origin, 'pack', 'nothing of the node has run');
});
