/** The contract of ctx for Python packs, through real children. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import type { Data, Invocation, InvocationOutcome, SurfaceTable } from './invocation.ts';
import { ErrorForPack } from './result.ts';
import type { Sandbox } from './sandbox.ts';
import { pythonPack, pythonPackOf, startPythonSandbox } from './testing/python.ts';
import { invocationOf, startSandbox } from './testing/sandbox.ts';

function outputsOf({ result }: InvocationOutcome) {
  assert.equal(result.status, 'success', JSON.stringify(result));
  return result.status === 'success' ? result.outputs : {};
}

const runIn =
  (sandbox: Sandbox) =>
  async (body: string, overrides: Partial<Invocation> = {}, before = '') =>
    sandbox.invoke(invocationOf(await pythonPack(body, before), overrides));

test('ctx of a Python node', async (t) => {
  const sandbox = await startPythonSandbox(t);
  if (!sandbox) return;
  const run = runIn(sandbox);

  await t.test(
    'has the protocol names and their snake_case forms, and lacks what is not offered',
    async () => {
      const outcome = await run(
        `return {'run': [ctx.run_id, ctx.runId], 'inputs': ctx.inputs, 'kv': hasattr(ctx, 'storage')}`,
      );
      assert.deepEqual(outputsOf(outcome), { run: ['run-1', 'run-1'], inputs: {}, kv: false });
    },
  );

  await t.test(
    'what is not offered is missing, by its capability, when it is used all the same',
    async () => {
      const surfaces = { 'storage.kv.get': 'unary' } as const;
      for (const [body, path] of [
        ['return ctx.call_ai({})', 'host.callAi'],
        ['return ctx.storage.kv.nope({})', 'host.kvStorage.nope'],
        ['return ctx.storage.graph.query({})', 'host.storage.graph'],
      ] as const) {
        const { result } = await run(body, { surfaces });
        const { code, details } = result.status === 'error' ? result.error : { code: '', details: {} };
        assert.deepEqual(
          [code, details],
          ['host_capability_missing', { at: 'nodes.py:3', capability: path }],
        );
      }
    },
  );

  await t.test('variables, logs, prints and events', async () => {
    const heard: Data[] = [];
    const outcome = await run(
      `ctx.variables.set('b', ctx.variables.get('a') + 1)\nctx.log('warn', 'careful', {'a': 1})\nprint('line')\nctx.emit({'x': 1})`,
      {
        variables: { a: 1 },
        log: (level, message, data) => void heard.push([level, message, data ?? null]),
        emit: (event) => void heard.push(event),
      },
    );
    assert.deepEqual(outcome.variables, { b: 2 });
    assert.deepEqual(heard, [['warn', 'careful', { a: 1 }], ['info', 'line', null], { x: 1 }]);
  });

  await t.test(
    'suspends, even when that is caught, and returns the stored answer when run again',
    async () => {
      const body = `try:\n    a = ctx.suspend({'kind': 'approval'})\nexcept BaseException:\n    return {'caught': True}\nreturn {'a': a, 'b': ctx.suspend({'resumeKey': 'why'})}`;
      const keyOf = async (answers: Invocation['answers']) => {
        const { result } = await run(body, { answers });
        return result.status === 'suspended' ? result.key : result;
      };
      assert.equal(await keyOf({}), 'node-1');
      assert.equal(await keyOf({ 'node-1': 1 }), 'why');
      assert.deepEqual(await keyOf({ 'node-1': 1, why: 2 }), { status: 'success', outputs: { a: 1, b: 2 } });
    },
  );
});

test('how a Python node ends', async (t) => {
  const sandbox = await startPythonSandbox(t);
  if (!sandbox) return;
  const run = runIn(sandbox);

  await t.test('ends the run by what the node returns', async () => {
    const { result } = await run(`return ctx.terminate({'code': 'done'})`, {
      surfaces: { terminate: 'terminate' },
    });
    assert.deepEqual(result, { status: 'terminate', request: { code: 'done' } });
  });

  await t.test('errors keep their code; a node is no coroutine; a missing one is said', async () => {
    const errorOf = async (body: string, overrides: Partial<Invocation> = {}) => {
      const { result } = await run(body, overrides, `class Quota(Exception):\n    code = 'quota'`);
      return result.status === 'error' ? [result.error.code, result.error.message] : result;
    };
    assert.deepEqual(await errorOf(`raise Quota('none left')`), ['quota', 'none left']);
    assert.deepEqual(
      (await errorOf('async def f(): pass\nreturn f()')).toString().includes('async def'),
      true,
    );
    assert.equal(String(await errorOf('pass', { typeId: 'other' })).startsWith('unknown_type_id'), true);
    const sent = async (body: string) => String(await errorOf(body));
    assert.match(
      await sent(`return {'rows': [{'n': 1}, {'n': 2**60}]}`),
      /: rows\[1\]\.n: An integer beyond 2\^53/,
    );
    assert.match(await sent(`ctx.variables.set('s', {1, 2})`), /: variables\.s: A value of type set/);
  });

  await t.test('an aborted invocation rejects', async () => {
    const abort = new AbortController();
    const running = run(`ctx.emit({})\nwhile True: pass`, {
      signal: abort.signal,
      emit: () => abort.abort(new Error('enough')),
    });
    await assert.rejects(running, /enough/);
  });
});

async function call(
  method: string,
  args: readonly Data[],
  io: Parameters<Invocation['call']>[2],
): Promise<Data> {
  if (method === 'bytes') return args[0] ?? null;
  if (method === 'fails') throw new ErrorForPack('quota', 'no', { details: { left: 0 } });
  if (method !== 'mcp.subscribe' && method !== 'tokens') return { method, ordinal: io.ordinal };
  for (let index = 0; index < 40; index++) await io.send(index);
  return 'end';
}

const UNARY: SurfaceTable = {
  'storage.kv.get': 'unary',
  callAI: 'unary',
  'callAI.embeddings': 'unary',
  bytes: 'unary',
  fails: 'unary',
};

test('surfaces of a Python node', async (t) => {
  const sandbox = await startPythonSandbox(t);
  if (!sandbox) return;
  const surfaces: SurfaceTable = {
    ...UNARY,
    'sideEffects.tryAcquire': 'sync',
    'mcp.subscribe': 'callback',
    tokens: 'stream',
  };
  const code = await pythonPack(`heard = []
one = ctx.storage.kv.get({'key': 'k'})
blocked = ctx.side_effects.try_acquire({'effectType': 'mail'})
end = ctx.mcp.subscribe({'uri': 'x'}, lambda event: heard.append([event, ctx.callAI.embeddings(event)['method']]))
streamed = list(ctx.tokens({}))
try: ctx.fails()
except Exception as error: failed = [error.code, error.details['left'], str(error)]
return {'one': one, 'blocked': blocked['ordinal'], 'nested': ctx.callAI({})['method'], 'end': end,
        'heard': len(heard), 'last': streamed[-1], 'failed': failed, 'sum': sum(ctx.bytes(bytes([1, 2, 3])))}`);
  const outcome = await sandbox.invoke(invocationOf(code, { surfaces, call }));
  assert.deepEqual(outputsOf(outcome), {
    one: { method: 'storage.kv.get', ordinal: 0 },
    blocked: 1,
    nested: 'callAI',
    end: 'end',
    heard: 40,
    last: 39,
    failed: ['quota', 0, 'no'],
    sum: 6,
  });
  assert.deepEqual(outcome.used.surfaces, Object.keys(surfaces).sort());
});

test('primitives of a Python node are granted members of ctx, and seen', async (t) => {
  const sandbox = await startPythonSandbox(t);
  if (!sandbox) return;
  const code = await pythonPack(
    `import os\nctx.file.writeFile('a', 'text')\nreturn {'text': ctx.file.read_file('a').decode(), 'name': os.environ['NAME'], 'other': os.environ.get('OTHER')}`,
    `import os\nos.environ.get('NAME')`,
  );
  const outcome = await sandbox.invoke(
    invocationOf(code, { grants: ['fs.read', 'fs.write', 'env.read'], environment: { NAME: 'n' } }),
  );
  assert.deepEqual(outputsOf(outcome), { text: 'text', name: 'n', other: null });
  assert.deepEqual(outcome.used.primitives, ['env.read', 'fs.read', 'fs.write']);
});

test('modules of a Python pack: several files, packages, wheels, NODES, and what is broken', async (t) => {
  const sandbox = await startPythonSandbox(t);
  if (!sandbox) return;
  const several = await pythonPackOf({
    'nodes.py': `from loader import a\nNODES = {'test.node': lambda ctx: {'a': a}, 'no': 1}`,
    'loader.py': 'a = 1',
  });
  assert.deepEqual(await sandbox.inspect(several), { loaded: true, typeIds: ['test.node'] });
  assert.deepEqual(outputsOf(await sandbox.invoke(invocationOf(several))), { a: 1 });
  const greeter = await pythonPackOf({}, 'greeter/__init__.py');
  await mkdir(path.join(greeter.folder, 'greeter'));
  await writeFile(path.join(greeter.folder, 'greeter/__init__.py'), `from .words import nodes`);
  await writeFile(path.join(greeter.folder, 'greeter/words.py'), `nodes = {'hi': lambda ctx: None}`);
  assert.deepEqual(await sandbox.inspect(greeter), { loaded: true, typeIds: ['hi'] });
  await promisify(execFile)('python3', ['-m', 'zipfile', '-c', 'greeter-1.0-py3-none-any.whl', 'greeter'], {
    cwd: greeter.folder,
  });
  const wheel = { ...greeter, entry: 'greeter-1.0-py3-none-any.whl' };
  assert.deepEqual(await sandbox.inspect(wheel), { loaded: true, typeIds: ['hi'] });
  const broken = await sandbox.inspect(await pythonPackOf({ 'nodes.py': 'nodes = {' }));
  assert.match(broken.loaded ? '' : broken.error.message, /was never closed/);
});

test('without a wall there is no Python', async (t) => {
  const sandbox = await startSandbox(t, { isolation: 'permission-only' });
  assert.equal(await sandbox.pythonVersion(), undefined);
  const { result } = await sandbox.invoke(invocationOf(await pythonPack('pass')));
  assert.equal(result.status === 'error' && result.error.code, 'unsupported_runtime');
});
