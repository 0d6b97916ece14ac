import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

/** Ends by itself some turns after a promise was rejected that nobody waits for. */
const PROGRAM = `
  import { runServerProcess, unhandledRejections } from ${JSON.stringify(import.meta.resolve('./process.ts'))};
  const server = { start: async () => 'here', stop: async () => {} };
  await runServerProcess({ name: 'test', usage: () => '', create: async () => server, greet: () => [] });
  void Promise.reject(new Error('forgotten'));
  setTimeout(() => console.log('counted ' + unhandledRejections.count), 10);
`;

test('a rejection that nobody handles is told with its origin and counted, and does not end the process', () => {
  const args = ['--no-warnings', '--input-type=module', '--eval', PROGRAM];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  assert.match(stdout, /counted 1/);
  assert.match(stderr, /test: a rejected promise was not handled.*Error: forgotten\n\s+at /s);
});
