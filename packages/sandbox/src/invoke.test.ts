/** The contract of ctx, through real children. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Data, Invocation, NodeResult, SurfaceTable } from './invocation.ts';
import { ErrorForPack } from './result.ts';
import { encode } from './runner/wire.mjs';
import type { Sandbox } from './sandbox.ts';
import { invocationOf, nodePack, packOf, scratchFolder, startSandbox } from './testing/sandbox.ts';

let sandbox: Sandbox;
const stops: (() => unknown)[] = [];
before(async () => {
  sandbox = await startSandbox({ after: (stop) => void stops.push(() => stop?.({} as never, () => {})) });
});
after(async () => {
  for (const stop of stops) await stop();
});

async function run(body: string, overrides: Partial<Invocation> = {}, top = '') {
  return sandbox.invoke(invocationOf(await nodePack(body, top), overrides));
}

function outputsOf(result: NodeResult) {
  assert.equal(result.status, 'success', JSON.stringify(result));
  return result.status === 'success' ? result.outputs : {};
}

describe('ctx', () => {
  test('is plain, with detached members, and lacks what is not offered', async () => {
    const { result } = await run(
      `const copy = { ...ctx, config: {} }; const { log } = ctx; log('info', 'x');
       return { plain: Object.getPrototypeOf(copy) === Object.prototype, kv: typeof ctx.storage, runId: copy.runId };`,
    );
    assert.deepEqual(outputsOf(result), { plain: true, kv: 'undefined', runId: 'run-1' });
  });

  test('frozen intrinsics leave members that an object inherits open to assignment', async () => {
    const { result } = await run(
      `const error = new TypeError('x'); error.name = 'Mine';
       const chunks = []; chunks.push = (value) => 'pushed ' + value;
       function Kind() {} Kind.prototype.toString = () => 'a kind';
       class Own extends Map { constructor() { super(); this.get = () => 'own'; } }
       let refused = ''; try { Array.prototype.push = 1; } catch (thrown) { refused = thrown.name; }
       return { name: error.name, keys: Object.keys(error), pushed: chunks.push(1), text: String(new Kind()),
         own: new Own().get(1), refused };`,
    );
    const outputs = { name: 'Mine', keys: ['name'], pushed: 'pushed 1', text: 'a kind', own: 'own' };
    assert.deepEqual(outputsOf(result), { ...outputs, refused: 'TypeError' });
  });

  test('variables are read and written synchronously and travel with the result', async () => {
    const { result, variables } = await run(
      `ctx.variables.set('b', ctx.variables.get('a') + 1); return { c: ctx.variables.get('c') ?? 'none' };`,
      { variables: { a: 1 } },
    );
    assert.deepEqual([outputsOf(result), variables], [{ c: 'none' }, { b: 2 }]);
  });

  test('log and emit reach the host', async () => {
    const heard: Data[] = [];
    await run(`ctx.log('warn', 'careful', { a: 1 }); await ctx.emit({ type: 'node.progress', data: 1 });`, {
      log: (level, message, data) => void heard.push([level, message, data ?? null]),
      emit: (event) => void heard.push(event),
    });
    assert.deepEqual(heard, [['warn', 'careful', { a: 1 }], { type: 'node.progress', data: 1 }]);
  });

  test('an event that the host cannot keep is dropped, and the pack hears nothing of why', async () => {
    const said: string[] = [];
    await run(`await ctx.emit({ type: 'node.progress' });`, {
      log: (_, message) => void said.push(message),
      emit: async () => {
        throw new Error('PostgreSQL at 10.0.0.1:5432 is away');
      },
    });
    assert.deepEqual(said, ['An event was dropped: The host failed to carry out this call. See its log.']);
  });

  test('suspends the first time, in both dialects, and returns the stored answer when run again', async () => {
    const body = `const a = await ctx.suspend({ kind: 'approval', prompt: 'ok?' });
      const b = await ctx.suspend({ reason: 'clarification', resumeKey: 'why' });
      const c = await ctx.suspend({ kind: 'duration', seconds: 1 }); return { a, b, c };`;
    const steps = [
      [{}, 'node-1'],
      [{ 'node-1': 1 }, 'why'],
      [{ 'node-1': 1, why: 2 }, 'node-1:2'],
    ] as const;
    for (const [answers, key] of steps) {
      const { result } = await run(body, { answers });
      assert.equal(result.status === 'suspended' && result.key, key, JSON.stringify(result));
    }
    const { result } = await run(body, { answers: { 'node-1': 1, why: 2, 'node-1:2': 3 } });
    assert.deepEqual(outputsOf(result), { a: 1, b: 2, c: 3 });
  });

  test('ends the run or redirects an error by what the node returns', async () => {
    const surfaces = { terminate: 'terminate', applyErrorDirective: 'directive' } as const;
    const ended = await run(`return ctx.terminate({ code: 'done' });`, { surfaces });
    assert.deepEqual(ended.result, { status: 'terminate', request: { code: 'done' } });
    const directed = await run(`return ctx.applyErrorDirective({ directive: 'ignore' });`, { surfaces });
    assert.deepEqual(directed.result, { status: 'directive', request: { directive: 'ignore' } });
  });

  test('an aborted invocation tells the pack and rejects', async () => {
    const abort = new AbortController();
    const running = run(
      `await ctx.emit({ started: true });
       await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve)); return {};`,
      { signal: abort.signal, emit: () => abort.abort(new Error('enough')) },
    );
    await assert.rejects(running, /enough/);
  });
});

describe('surfaces', () => {
  const surfaces: SurfaceTable = {
    'storage.kv.get': 'unary',
    callAI: 'unary',
    'callAI.embeddings': 'unary',
    'sideEffects.tryAcquire': 'sync',
    'mcp.subscribe': 'callback',
    tokens: 'stream',
    'http.safeFetch': 'response',
    bytes: 'unary',
    'db.vector.upsert': 'numbers',
  };

  async function call(
    method: string,
    args: readonly Data[],
    io: Parameters<Invocation['call']>[2],
  ): Promise<Data> {
    if (method === 'bytes') return args[0] ?? null;
    if (method === 'http.safeFetch')
      return { status: 201, headers: [['x-a', 'b']], body: Buffer.from('made'), url: 'https://example.com/' };
    if (method === 'mcp.subscribe' || method === 'tokens') {
      for (let index = 0; index < 40; index++) await io.send(index);
      return 'end';
    }
    return { method, args, ordinal: io.ordinal };
  }

  test('answer once, block, stream and call back, and leave a receipt', async () => {
    const { result, used } = await run(
      `const { get } = ctx.storage.kv; const heard = []; const streamed = [];
       const one = await get({ key: 'k' });
       const nested = await ctx.callAI.embeddings({ text: 'x' });
       const blocked = ctx.sideEffects.tryAcquire({ effectType: 'mail' });
       const end = await ctx.mcp.subscribe({ uri: 'x' }, (event) => heard.push(event));
       for await (const token of ctx.tokens({})) streamed.push(token);
       return { one, nested: nested.method, blocked: blocked.ordinal, end, heard: heard.length, last: streamed.at(-1) };`,
      { surfaces, call },
    );
    const one = { method: 'storage.kv.get', args: [{ key: 'k' }], ordinal: 0 };
    const rest = { nested: 'callAI.embeddings', blocked: 2, end: 'end', heard: 40, last: 39 };
    assert.deepEqual(outputsOf(result), { one, ...rest });
    const paths = [
      'callAI.embeddings',
      'mcp.subscribe',
      'sideEffects.tryAcquire',
      'storage.kv.get',
      'tokens',
    ];
    assert.deepEqual(used, { primitives: [], surfaces: paths });
  });

  test('carry bytes and responses', async () => {
    const { result } = await run(
      `const back = await ctx.bytes(new Uint8Array([1, 2, 3])); const made = await ctx.http.safeFetch('https://example.com/');
       return { sum: back[0] + back[1] + back[2], status: made.status, header: made.headers.get('x-a'), text: await made.text() };`,
      { surfaces, call },
    );
    assert.deepEqual(outputsOf(result), { sum: 6, status: 201, header: 'b', text: 'made' });
  });

  test('vectors travel as bytes, so that the host reads few values whatever their number', async () => {
    const seen: Data[] = [];
    await run(
      `const embedding = Array.from({ length: 384 }, (_, i) => i / 4);
       const vectors = Array.from({ length: 1_000 }, (_, i) => ({ id: 'v' + i, embedding, metadata: { embedding: [1] } }));
       await ctx.db.vector.upsert({ collection: 'c', vectors });
       await ctx.db.vector.upsert({ embedding: [1, 'two'] }); return {};`,
      { surfaces, call: async (_method, args) => void seen.push(args[0]!) },
    );
    const [{ vectors }, wrong] = seen as [{ vectors: { embedding: { float32: Uint8Array } }[] }, Data];
    const { embedding, ...rest } = vectors[999]!;
    assert.deepEqual(rest, { id: 'v999', metadata: { embedding: [1] } });
    assert.deepEqual([...new Float32Array(embedding.float32.buffer)].slice(0, 4), [0, 0.25, 0.5, 0.75]);
    assert.deepEqual(wrong, { embedding: [1, 'two'] }, 'the schema says what is wrong with it');
    // Each vector is an element and four members, which count ten times; as numbers it would be 400 elements
    assert.ok(encode({ args: [{ vectors }] }).values < 80 * vectors.length);
  });

  test('failures that are meant for packs reach them with their code', async () => {
    const { result } = await run(
      `try { await ctx.callAI({}); } catch (error) { return { code: error.code, details: error.details, capability: error.capability }; }`,
      {
        surfaces,
        call: async () => {
          throw new ErrorForPack('quota', 'no', { details: { capability: 'host.x' } });
        },
      },
    );
    assert.deepEqual(outputsOf(result), {
      code: 'quota',
      details: { capability: 'host.x' },
      capability: 'host.x',
    });
  });
});

describe('primitives', () => {
  test('fetch and dns go through the host and are seen', async (t) => {
    const server = createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1');
    t.after(() => server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const { result, used } = await run(
      `const answer = await fetch('http://127.0.0.1:${port}/'); const [first] = await lookup('127.0.0.1', { all: true });
       return { text: await answer.text(), family: first.family };`,
      { grants: ['net.outbound', 'net.dns'] },
      `import { lookup } from 'node:dns/promises';`,
    );
    assert.deepEqual(outputsOf(result), { text: 'hello', family: 4 });
    assert.deepEqual(used.primitives, ['net.dns', 'net.outbound']);
  });

  test('files are those of the pack in its workspace', async () => {
    const code = await nodePack(
      `const had = fs.existsSync('a/b'); fs.mkdirSync('a', { recursive: true }); await fs.promises.writeFile('a/b', 'text');
       return { had, text: fs.readFileSync('a/b', 'utf8'), list: fs.readdirSync('a'), size: fs.statSync('a/b').size };`,
      `import fs from 'node:fs';`,
    );
    const grants = ['fs.read', 'fs.write'];
    const keyOf = (tenant: string) => ({ tenant, workspace: 'main', principal: 'ada' });
    const rest = { text: 'text', list: ['b'], size: 4 };
    for (const [tenant, had] of [
      ['one', false],
      ['one', true],
      ['two', false],
    ] as const) {
      const { result } = await sandbox.invoke(invocationOf(code, { grants, key: keyOf(tenant) }));
      assert.deepEqual(outputsOf(result), { had, ...rest });
    }
  });

  test('files of the default workspace are where they were before it had a name', async (t) => {
    const workDir = await scratchFolder();
    const own = await startSandbox(t, { workDir });
    const code = await nodePack(`fs.writeFileSync('a', 'text'); return {};`, `import fs from 'node:fs';`);
    const key = { tenant: 'one', workspace: 'default', principal: null };
    const grants = ['fs.read', 'fs.write'];
    assert.deepEqual(outputsOf((await own.invoke(invocationOf(code, { grants, key }))).result), {});
    const digest = hash('sha256', JSON.stringify([code.name, 'one', '']), 'hex');
    assert.ok(existsSync(path.join(workDir, 'files', digest.slice(0, 32), 'a')));
  });

  test('a surface of files and granted files stand side by side', async () => {
    const { result, used } = await run(
      `fs.writeFileSync('a', 'text'); return { own: fs.statSync('a').size, offered: await ctx.fs.stat({ path: 'a' }) };`,
      {
        grants: ['fs.read', 'fs.write'],
        surfaces: { 'fs.stat': 'unary' },
        call: async (method) => ({ method }),
      },
      `import fs from 'node:fs';`,
    );
    assert.deepEqual(outputsOf(result), { own: 4, offered: { method: 'fs.stat' } });
    assert.deepEqual([used.surfaces, used.primitives], [['fs.stat'], ['fs.read', 'fs.write']]);
  });

  test('hashing needs nothing, other crypto and the environment need their grants', async () => {
    const body = `const hash = createHash('sha256').update('x').digest('hex').slice(0, 4);
      createCipheriv('aes-256-gcm', randomBytes(32), randomBytes(12)); return { hash, name: process.env.NAME };`;
    const top = `import { createCipheriv, createHash, randomBytes } from 'node:crypto';`;
    const denied = await run(body, {}, top);
    assert.equal(
      denied.result.status === 'error' && denied.result.error.details?.requestedCapability,
      'crypto',
    );
    const granted = await run(
      body,
      { grants: ['crypto', 'env.read'], environment: { NAME: 'n', OTHER: 'o' } },
      top,
    );
    assert.deepEqual(outputsOf(granted.result), { hash: '2d71', name: 'n' });
    assert.deepEqual(granted.used.primitives, ['crypto', 'env.read']);
  });
});

describe('modules', () => {
  const source = {
    'index.mjs': `import { a } from './a.mjs'; import data from './data.json' with { type: 'json' };
      export default { 'test.node': async () => ({ a, b: data.b, c: (await import('./a.mjs')).a }) };`,
    'a.mjs': 'export const a = 1;',
    'data.json': '{"b":2}',
  };

  test('may have several files of their own', async () => {
    const { result } = await sandbox.invoke(invocationOf(await packOf(source)));
    assert.deepEqual(outputsOf(result), { a: 1, b: 2, c: 1 });
  });

  test('may be CommonJS, and may export handlers of inputs', async () => {
    const text = `const { b } = require('./b.cjs'); exports.nodeHandlers = { 'test.node': (inputs, ctx) => ({ b, run: ctx.runId, inputs }) };`;
    const code = await packOf({ 'index.cjs': text, 'b.cjs': 'exports.b = 2;' });
    const { result } = await sandbox.invoke(invocationOf({ ...code, entry: 'index.cjs' }));
    assert.deepEqual(outputsOf(result), { b: 2, run: 'run-1', inputs: {} });
  });

  test('inspection names what is exported, or why it does not load', async () => {
    assert.deepEqual(await sandbox.inspect(await packOf(source)), { loaded: true, typeIds: ['test.node'] });
    const broken = await sandbox.inspect(await packOf('export const nodes = {;'));
    assert.equal(broken.loaded, false);
  });
});
