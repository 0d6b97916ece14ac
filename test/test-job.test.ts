import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';

const { runJob } = await import('../scripts/test-job.mjs' as string);

/** Runs such a test file as the runner does. */
function jobOf(t: TestContext, body: string, limitMs?: number) {
  const folder = mkdtempSync(path.join(tmpdir(), 'gantry-test-job-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'sample.test.mjs');
  writeFileSync(
    file,
    `import { spawn } from 'node:child_process'; import { test } from 'node:test';\n${body}`,
  );
  const { NODE_TEST_CONTEXT: _, ...rest } = process.env;
  const env = { ...rest, GANTRY_TEST_END_MS: '100' };
  return { file, job: runJob([file], { env, results: path.join(folder, 'results'), limitMs }) };
}

const PROCESS = `const { pid } = spawn('sleep', ['1000'], { stdio: 'inherit' }); console.log('pid', pid);`;

function isAlive(pid: number): boolean {
  try {
    return /\) [^Z] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

test('a file that passes, with its counts', async (t) => {
  const { isGreen, failedFiles, counts } = await jobOf(t, `test('fine', () => {});`).job;
  assert.deepEqual([isGreen, failedFiles, counts.passed], [true, [], 1]);
});

test('a file that fails and exits is not held up by a process that it left, which is killed', async (t) => {
  const { file, job } = jobOf(t, `${PROCESS}\ntest('no', () => { process.nextTick(process.exit, 3); });`);
  const { isGreen, failedFiles, printed } = await job;
  assert.deepEqual([isGreen, failedFiles], [false, [file]]);
  assert.match(
    printed,
    /✖ failing tests:\n\n✖ \S+sample\.test\.mjs: ended with 3 before it reported its tests\n/,
  );
  const pid = Number(/pid (\d+)/.exec(printed)![1]);
  while (isAlive(pid)) await turn();
});

test('a file that does not end is killed and named', async (t) => {
  const { file, job } = jobOf(t, `test('no', () => { for (;;); });`, 1_000);
  const { isGreen, failedFiles, printed } = await job;
  assert.deepEqual([isGreen, failedFiles], [false, [file]]);
  assert.match(printed, /✖ failing tests:\n\n✖ \S+sample\.test\.mjs: killed after 1 s\n/);
});

test('a file that passes and leaves something open is ended, and what is open is listed', async (t) => {
  const { isGreen, isLeftOpen, printed } = await jobOf(t, `${PROCESS}\ntest('fine', () => {});`).job;
  assert.deepEqual([isGreen, isLeftOpen], [true, true]);
  assert.match(printed, /Still open 0\.1 s after the last test:\n.* {2}ChildProcess \d+ sleep 1000\n/s);
});

test('a file that passes and hangs in its exit is ended, and its threads are listed', async (t) => {
  const hangs = `process.on('exit', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));`;
  const { isGreen, isLeftOpen, counts, printed } = await jobOf(t, `${hangs}\ntest('fine', () => {});`).job;
  assert.deepEqual([isGreen, isLeftOpen, counts.passed], [true, true, 1]);
  assert.match(printed, /Still running 0\.1 s after its report:\n {2}\S+ S /);
});

test('a file that dies is named', async (t) => {
  const { file, job } = jobOf(t, `test('no', () => process.kill(process.pid, 'SIGKILL'));`);
  const { failedFiles, printed } = await job;
  assert.deepEqual(failedFiles, [file]);
  assert.match(printed, /sample\.test\.mjs: ended with SIGKILL before/);
});
