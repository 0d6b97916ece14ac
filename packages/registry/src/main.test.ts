import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ADMIN_KEY, temporaryFolder } from './testing/test-registry.ts';

const MAIN = fileURLToPath(new URL('../bin/registry.mjs', import.meta.url));

/** What it says on stdout until it serves. */
async function greeting(t: TestContext, env: Readonly<Record<string, string>>): Promise<string> {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const words = [MAIN, '--data', folder.path, '--port', '0', '--log', 'error'];
  const child = spawn(process.execPath, words, {
    env: { PATH: process.env.PATH, NODE_NO_WARNINGS: '1', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child.stdout.once('data', () => child.kill('SIGTERM'));
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  assert.equal(code, 0);
  return said;
}

test('a start says which admin key works: a new one, or the one of the environment by its name', async (t) => {
  const [made, given] = await Promise.all([greeting(t, {}), greeting(t, { GANTRY_ADMIN_KEY: ADMIN_KEY })]);
  assert.match(made, /serving on .*\nAdmin key \(shown once, keep it\): gk_\S+\n$/);
  assert.match(given, /serving on .*\nAdmin key: the one in GANTRY_ADMIN_KEY\n$/);
});
