/**
 * The operating system's wall against native code: interpreters without any inner layer, behind every isolation of
 * this machine. As another user too in the full form.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { isFullForm, shareOf } from '../../protocol/src/testing/full-form.ts';
import { chooseIsolation, gatherMaterials, type Isolation } from './isolation/choose.ts';
import { INSIDE, pythonView, type Wall } from './isolation/launch.ts';
import { choosePython } from './isolation/python.ts';
import { findPythons, findTools, type Python } from './isolation/tools.ts';
import { DEFAULT_UIDS } from './isolation/uids.ts';
import { unshareWall } from './isolation/walls.ts';
import { KINDS, type Kind, lacks } from './testing/isolations.ts';
import { invocationOf, MIB, scratchFolder, startSandbox } from './testing/sandbox.ts';
import type { Dialect, HostileModule, StayingModule } from './testing/walls/hostile-module.ts';
import { JAVASCRIPT, JAVASCRIPT_MODULES, JAVASCRIPT_STAYING } from './testing/walls/javascript.ts';
import { PYTHON, PYTHON_MODULES, PYTHON_STAYING } from './testing/walls/python.ts';
import { type Interpreter, start } from './testing/walls/run.ts';
import { WASM_MODULES, wasmModule } from './testing/walls/wasm.ts';

const NOBODY = 65534;

/** The library that `ctypes` needs, which packs do not get. */
function foreignCalls(executable: string): readonly string[] {
  const file = execFileSync(executable, ['-I', '-S', '-c', 'import _ctypes; print(_ctypes.__file__)'], {
    encoding: 'utf8',
  }).trim();
  const words = execFileSync('ldd', [file], { encoding: 'utf8' }).split(/\s+/);
  return words.filter((word) => word.startsWith('/') && word.includes('libffi'));
}

async function nativePython(isolation: Wall): Promise<Interpreter | undefined> {
  const { filteringPython } = await findTools();
  let python: Python | undefined;
  for await (const found of findPythons()) if (found.executable === filteringPython) python = found;
  if (!python) return undefined;
  const sharedLibraries = [...python.sharedLibraries, ...foreignCalls(python.executable)];
  const launcher = isolation.launcherOf(pythonView({ ...python, sharedLibraries }));
  return { launcher, program: INSIDE.python, flags: ['-I', '-S', '-c'] };
}

const node = (launcher: Isolation): Interpreter => ({ launcher, program: INSIDE.node, flags: ['-e'] });

/** None of them gets what it wants, and the process that ran them all is still there to say so. */
async function allRefused(interpreter: Interpreter, dialect: Dialect, families: object): Promise<void> {
  const modules: readonly HostileModule[] = Object.values(families).flat();
  const { child, said, ended } = await start(interpreter, dialect.together(modules));
  const outcomes = await said;
  child.kill();
  await ended;
  assert.ok(Array.isArray(outcomes), JSON.stringify(outcomes));
  assert.equal(outcomes.length, modules.length);
  assert.deepEqual(
    outcomes.filter(([, escaped]) => escaped !== false),
    [],
  );
}

function descendants(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === ''
    ? []
    : text.split(' ').flatMap((child) => [Number(child), ...descendants(Number(child))]);
}

/** What has ended but is not yet reaped is gone too. */
function runs(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

async function isKilled(interpreter: Interpreter, dialect: Dialect, module: StayingModule): Promise<void> {
  const before = new Set(descendants(process.pid));
  const { child, said, ended } = await start(interpreter, dialect.alone(module));
  await said;
  const pids = descendants(process.pid).filter((pid) => !before.has(pid));
  child.kill();
  await ended;
  const limit = Date.now() + 20_000;
  while (pids.some(runs) && Date.now() < limit) await setTimeout(10);
  assert.deepEqual(pids.filter(runs), [], 'left behind');
}

async function wasmIsStopped(t: TestContext, kind: Kind, every: number): Promise<void> {
  const sandbox = await startSandbox(t, { isolation: kind });
  for (const module of shareOf(WASM_MODULES, every))
    await t.test(module.name, async () => {
      // What ends by itself may take long on a busy machine
      const wallClockMs = module.expected.includes('sandbox_timeout') ? 1_000 : 60_000;
      const limits = { memoryBytes: 64 * MIB, wallClockMs, outputBytes: MIB };
      const { result } = await sandbox.invoke(invocationOf(await wasmModule(module), { limits }));
      const code = result.status === 'error' ? result.error.code : result.status;
      assert.ok(module.expected.includes(code), JSON.stringify(result));
    });
}

test('the corpus is large enough', () => {
  const families = [...Object.values(PYTHON_MODULES), ...Object.values(JAVASCRIPT_MODULES)];
  const staying = [...PYTHON_STAYING, ...JAVASCRIPT_STAYING, ...WASM_MODULES];
  const count = families.reduce<number>((sum, { length }) => sum + length, staying.length);
  assert.ok(count >= 60, `${count} modules`);
});

for (const [index, kind] of KINDS.entries())
  describe(`walls of ${kind}`, async () => {
    // Most of what stays is ended by the same step behind either wall
    const every = index === 0 ? 2 : 100;
    const reason = await lacks(kind);
    const walled = (name: string, run: (t: TestContext, isolation: Isolation) => Promise<void>) =>
      test(name, async (t) => {
        if (reason) return t.skip(reason);
        await run(t, await chooseIsolation({ isolation: kind, workDir: await scratchFolder() }));
      });
    walled('native code gets nothing', async (t, isolation) => {
      const interpreter = await nativePython(isolation);
      if (!interpreter) return t.skip('no python3 with ctypes');
      // In the group of this process, of which every signal of a pack would be one too many.
      const neighbour = spawn('sleep', ['600'], { stdio: 'ignore' });
      t.after(() => neighbour.kill());
      await allRefused(interpreter, PYTHON, PYTHON_MODULES);
      for (const module of shareOf(PYTHON_STAYING, every))
        await t.test(module.name, () => isKilled(interpreter, PYTHON, module));
      assert.equal(neighbour.exitCode ?? neighbour.signalCode, null);
    });
    walled('Node without its permission model gets nothing', async (t, isolation) => {
      await allRefused(node(isolation), JAVASCRIPT, JAVASCRIPT_MODULES);
      for (const module of shareOf(JAVASCRIPT_STAYING, every))
        await t.test(module.name, () => isKilled(node(isolation), JAVASCRIPT, module));
    });
    walled('WebAssembly stays in its limits', (t) => wasmIsStopped(t, kind, every));
  });

test('without a filter, packs end with the host all the same', async (t) => {
  const reason = await lacks('unshare');
  if (reason) return t.skip(reason);
  const wall = await gatherMaterials(await scratchFolder(), DEFAULT_UIDS);
  const tools = { ...wall.tools, filteringPython: undefined };
  const isolation = unshareWall({ ...wall, filter: undefined, tools });
  assert.equal(isolation.isFiltered, false);
  assert.match(JSON.stringify(await choosePython(isolation)), /need a filter for system calls/);
  const interpreter = await nativePython(isolation);
  if (!interpreter) return t.skip('no python3 with ctypes');
  const neighbour = spawn('sleep', ['600'], { stdio: 'ignore' });
  t.after(() => neighbour.kill());
  const ofGroup = { name: 'kill of its group', body: `say('there')\nos.kill(0, signal.SIGTERM)` };
  for (const module of [ofGroup, ...shareOf(PYTHON_STAYING, 2)])
    await t.test(module.name, () => isKilled(interpreter, PYTHON, module));
  assert.equal(neighbour.exitCode ?? neighbour.signalCode, null);
});

if (isFullForm)
  test('so it is for a host that is not root', async (t) => {
    if (process.getuid?.() !== 0) return t.skip('only root can become another user');
    // With it, the runner of tests would only tell this one what it would run.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const user = { uid: NOBODY, gid: NOBODY, env };
    const run = spawn(process.execPath, [import.meta.filename], { stdio: 'inherit', ...user });
    const [code] = await once(run, 'exit');
    assert.equal(code, 0);
  });
