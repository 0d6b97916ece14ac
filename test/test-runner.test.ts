import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';

const RUNNER = path.resolve(import.meta.dirname, '../scripts/test.mjs');

/** Among the arguments: the run is one of CI. */
const CI = 'CI=true';

/** A whole run over these files. */
function runOf(t: TestContext, files: Readonly<Record<string, string>>, ...args: string[]) {
  const folder = mkdtempSync(path.join(tmpdir(), 'gantry-test-runner-'));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(path.join(folder, 'bench'));
  for (const [name, text] of Object.entries(files))
    writeFileSync(path.join(folder, `bench/${name}.test.ts`), text);
  const { NODE_TEST_CONTEXT: _, CI: __, ...env } = process.env;
  const asked = args.includes(CI) ? { ...env, CI: 'true', GANTRY_TEST_INSTALL: '0' } : env;
  const words = [RUNNER, ...args.filter((arg) => arg !== CI)];
  return spawnSync(process.execPath, words, { cwd: folder, env: asked, encoding: 'utf8' });
}

const steady = `import { test } from 'node:test'; test('fine', () => {});`;

/** One of two files fails the first time. */
function unsteadyRun(t: TestContext, ...args: string[]) {
  const unsteady = `import { existsSync, writeFileSync } from 'node:fs';
    import { test } from 'node:test';
    test('later', () => { if (!existsSync('seen')) { writeFileSync('seen', ''); throw new Error('boom'); } });`;
  return runOf(t, { steady, unsteady }, ...args);
}

test('a file that fails and then passes alone is named, with what failed, at the end', (t) => {
  const { status, stdout } = unsteadyRun(t);
  assert.match(
    stdout,
    /✖ failing tests:[^✖]*✖ later[\s\S]*boom[\s\S]*\nUNSTEADY: .* bench\/unsteady\.test\.ts\n$/,
  );
  assert.equal(status, 0);
});

test('it fails a strict run', (t) => {
  const { status, stdout } = unsteadyRun(t, '--strict');
  assert.match(stdout, /\nUNSTEADY: .* bench\/unsteady\.test\.ts\n$/);
  assert.equal(status, 1);
});

test('an option that does not exist is refused, with those that do', (t) => {
  const { status, stdout, stderr } = runOf(t, { steady }, '--strct');
  assert.deepEqual([status, stdout], [2, '']);
  assert.match(stderr, /^Unknown option --strct\. Usage: .*\n\n[\s\S]* --strict /);
});

test('a run says how far it is, and at the end what was skipped and why', (t) => {
  const skipped = `import { test } from 'node:test';
    test('in a browser', (t) => t.skip('no chromium here'));`;
  const { status, stdout } = runOf(t, { steady, skipped });
  assert.equal(status, 0);
  assert.match(stdout, /\n— 1 of 1 processes ended, 2 tests, 0 failed, \d+ s\n/);
  assert.match(stdout, /2 tests: 1 passed, 1 skipped\nSkipped 1: no chromium here \(in a browser\)\n/);
});

test('a skipped test fails a run of CI', (t) => {
  const skipped = `import { test } from 'node:test'; test('in a browser', { skip: 'no chromium' }, () => {});`;
  assert.equal(runOf(t, { steady, skipped }, '--strict').status, 0);
  assert.equal(runOf(t, { steady, skipped }, '--strict', CI).status, 1);
  assert.equal(runOf(t, { steady }, '--strict', CI).status, 0);
});

test('the full form runs the files that have one, and only those', (t) => {
  const full = `// imports '../testing/full-form.ts'
    import { test } from 'node:test';
    test(process.env.GANTRY_TEST_FORM, () => {});`;
  const { status, stdout } = runOf(t, { steady, full }, '--full');
  assert.equal(status, 0);
  assert.match(stdout, /✔ full [\s\S]*\n1 files, 1 tests: 1 passed, 0 skipped\n$/);
});
