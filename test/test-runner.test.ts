import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';

const RUNNER = path.resolve(import.meta.dirname, '../scripts/test.mjs');

/** A whole run over two files, of which one fails the first time. */
function unsteadyRun(t: TestContext, ...args: string[]) {
  const folder = mkdtempSync(path.join(tmpdir(), 'gantry-test-runner-'));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(path.join(folder, 'bench'));
  const fails = `import { existsSync, writeFileSync } from 'node:fs';
    import { test } from 'node:test';
    test('later', () => { if (!existsSync('seen')) { writeFileSync('seen', ''); throw new Error('boom'); } });`;
  writeFileSync(path.join(folder, 'bench/unsteady.test.ts'), fails);
  writeFileSync(
    path.join(folder, 'bench/steady.test.ts'),
    `import { test } from 'node:test'; test('fine', () => {});`,
  );
  const { NODE_TEST_CONTEXT: _, CI: __, ...env } = process.env;
  return spawnSync(process.execPath, [RUNNER, ...args], { cwd: folder, env, encoding: 'utf8' });
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
