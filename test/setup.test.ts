/** What `npm start` and `npm test` do in a fresh clone, with a stand-in for npm. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';

const SETUP = path.join(import.meta.dirname, '../scripts/setup.mjs');

async function clone(t: TestContext, npm: string) {
  const root = await mkdtemp(path.join(tmpdir(), 'gantry-setup-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  await mkdir(path.join(root, 'scripts'));
  await cp(SETUP, path.join(root, 'scripts/setup.mjs'));
  await writeFile(path.join(root, 'scripts/bundle.mjs'), '');
  await writeFile(path.join(root, 'npm.mjs'), npm);
  const packages = { 'node_modules/a': { version: '1.0.0' }, 'node_modules/b': { version: '1.0.0' } };
  await writeFile(path.join(root, 'package-lock.json'), JSON.stringify({ packages }));
  const env = { ...process.env, npm_execpath: path.join(root, 'npm.mjs') };
  return () => spawnSync(process.execPath, ['scripts/setup.mjs'], { cwd: root, env, encoding: 'utf8' });
}

test('an install says how far it is, and is not repeated', async (t) => {
  const setUp = await clone(
    t,
    `import { mkdirSync, writeFileSync } from 'node:fs';
     for (const name of ['a', 'b']) {
       mkdirSync('node_modules/' + name, { recursive: true });
       writeFileSync('node_modules/' + name + '/package.json', '{}');
     }`,
  );
  const first = setUp();
  assert.equal(first.status, 0, first.stderr);
  assert.match(first.stdout, /installing dependencies: 0 of 2 packages, 0 s\n/);
  assert.match(first.stdout, /installing dependencies: 2 of 2 packages, \d+ s\n$/);
  assert.deepEqual([setUp().stdout, setUp().status], ['', 0]);
});

test('an install that fails says what to check, and is tried again', async (t) => {
  const setUp = await clone(t, 'process.exit(7)');
  for (let time = 0; time < 2; time++) {
    const { status, stderr } = setUp();
    assert.equal(status, 7);
    assert.match(stderr, /npm ci failed\. Check the network/);
  }
});
