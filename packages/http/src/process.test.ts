import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

const program = (server: string, rest = ''): string => `
  import { createServer } from 'node:net';
  import { runServerProcess, unhandledRejections } from ${JSON.stringify(import.meta.resolve('./process.ts'))};
  const server = ${server};
  await runServerProcess({ name: 'test', usage: () => '', create: async () => server, greet: () => [] });
  ${rest}
`;

const ends = (code: string) =>
  spawnSync(process.execPath, ['--no-warnings', '--input-type=module', '--eval', code], { encoding: 'utf8' });

test('a rejection that nobody handles is told with its origin and counted, and does not end the process', () => {
  const { status, stdout, stderr } = ends(
    program(
      `{ start: async () => 'here', stop: async () => {} }`,
      `void Promise.reject(new Error('forgotten'));
       setTimeout(() => console.log('counted ' + unhandledRejections.count), 10);`,
    ),
  );
  assert.equal(status, 0, stderr);
  assert.match(stdout, /counted 1/);
  assert.match(stderr, /test: a rejected promise was not handled.*Error: forgotten\n\s+at /s);
});

test('a signal that comes twice does not cut the drain short', () => {
  const stop = `async () => {
    process.kill(process.pid, 'SIGTERM');
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
    console.log('drained');
  }`;
  const { status, stdout } = ends(
    program(
      `{ start: async () => 'here', stop: ${stop} }`,
      `setInterval(() => {}, 1_000);
       process.kill(process.pid, 'SIGTERM');`,
    ),
  );
  assert.deepEqual([status, stdout.trim()], [0, 'drained']);
});

test('a signal that comes later ends a drain that takes long', () => {
  const stop = `() => {
    const { write } = process.stderr;
    process.stderr.write = (text) => {
      process.kill(process.pid, 'SIGINT');
      return write.call(process.stderr, text);
    };
    return new Promise(() => {});
  }`;
  const { status, stderr } = ends(
    program(
      `{ start: async () => 'here', stop: ${stop} }`,
      `setInterval(() => {}, 1_000);
       process.kill(process.pid, 'SIGINT');`,
    ),
  );
  assert.equal(status, 1);
  assert.match(
    stderr,
    /^test: still stopping; Ctrl-C again ends it at once\ntest: ended by a second signal /,
  );
});

test('a server that cannot listen says which flag to change', () => {
  const start = `() => new Promise((resolve, reject) => createServer().once('error', reject).listen(7070, '192.0.2.1'))`;
  const { status, stderr } = ends(program(`{ start: ${start}, stop: async () => {} }`));
  assert.equal(status, 1);
  assert.equal(stderr, 'test: 192.0.2.1 is not an address of this machine. Choose another with --host.\n');
});
