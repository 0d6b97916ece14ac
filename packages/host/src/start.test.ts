/** What a process says when it starts, and how it ends when it cannot. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { SettingsError } from '@gantry/http';
import { freshDatabase } from '../../store/src/testing/postgres-server.ts';
import { createHost } from './host.ts';
import { readSettings } from './settings.ts';
import { startHostProcess, temporaryFolder } from './testing/host-process.ts';

const MAIN = fileURLToPath(new URL('../bin/start.mjs', import.meta.url));

async function start(t: TestContext, env: Readonly<Record<string, string>>, ...args: string[]) {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  return startIn(folder.path, env, ...args);
}

async function startIn(folder: string, env: Readonly<Record<string, string>>, ...args: string[]) {
  const words = [MAIN, '--data', folder, '--port', '0', '--log', 'error', ...args];
  const child = spawn(process.execPath, words, {
    env: { PATH: process.env.PATH, NODE_NO_WARNINGS: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // Whatever it says first on stdout, it serves
  child.stdout.once('data', () => child.kill('SIGTERM'));
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { out, err, code };
}

test('names that are no settings and a missing folder are told; so is where the admin key comes from', async (t) => {
  const key = 'gk_test_admin_0123456789abcdef0123456789abcdef';
  const env = { GANTRY_KVX: '1', GANTRY_ADMIN_KEY: key };
  const { out, err, code } = await start(t, env, '--workflows', '/nope');
  assert.equal(code, 0, err);
  assert.match(
    err,
    /^gantry: Unknown setting GANTRY_KVX .*GANTRY_KV\?\ngantry: There is no folder \/nope,.*\n$/,
  );
  assert.match(out, /\nAdmin key: the one in GANTRY_ADMIN_KEY\n/);
  assert.ok(!out.includes(key));
});

test('a start that finds its port in use does not cost the admin key', async (t) => {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const other = createServer().listen(0, '127.0.0.1');
  t.after(() => other.close());
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const busy = await startIn(folder.path, {}, '--port', String(port));
  assert.deepEqual([busy.code, busy.out], [1, '']);
  assert.match(busy.err, /port \d+ is in use/);
  assert.ok(!existsSync(`${folder.path}/gantry.pid`));
  assert.match((await startIn(folder.path, {})).out, /Admin key \(shown once, keep it\): gk_/);
  assert.doesNotMatch((await startIn(folder.path, {})).out, /Admin key/);
});

test('a data folder that cannot be created is named, with what to do', async (t) => {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const file = `${folder.path}/taken`;
  writeFileSync(file, '');
  for (const path of [file, `${file}/below`]) {
    const { code, out, err } = await startIn(path, {});
    assert.deepEqual([code, out], [2, '']);
    assert.equal(
      err,
      `gantry: The data folder ${path} cannot be created (a file is in its place). Choose another with --data or GANTRY_DATA_DIR.\n`,
    );
  }
});

test('the key of the command line is not made an admin key', async (t) => {
  const key = 'gk_test_reader_0123456789abcdef0123456789abcdef';
  const { out, err } = await start(t, { GANTRY_API_KEY: key });
  assert.match(err, /^gantry: GANTRY_API_KEY is for the command line .* use GANTRY_ADMIN_KEY\.\n$/);
  assert.match(out, /Admin key \(shown once, keep it\): gk_/);
  assert.ok(!out.includes(key));
});

test('with PostgreSQL too the data folder names the process while it runs', async (t) => {
  const database = await freshDatabase();
  if ('skip' in database) return t.skip(database.skip);
  const folder = await temporaryFolder();
  t.after(async () => {
    await database.drop();
    await folder.remove();
  });
  const env = { GANTRY_DATABASE_URL: database.url };
  const host = await startHostProcess({ dataDir: folder.path, workflowsDir: folder.path, env });
  const pidFile = `${folder.path}/gantry.pid`;
  assert.equal(readFileSync(pidFile, 'utf8').trim(), String(host.child.pid));
  assert.equal(await host.stop(), 0);
  assert.ok(!existsSync(pidFile));
});

test('a host that other machines reach says so, and prints an address that they can use', async (t) => {
  const { out, err } = await start(t, {}, '--host', '0.0.0.0');
  assert.match(err, /^gantry: Other machines reach 0\.0\.0\.0 without TLS/);
  assert.doesNotMatch(out, /0\.0\.0\.0/);
  const address = Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .find(({ internal, family }) => !internal && family === 'IPv4')?.address;
  assert.ok(out.includes(`serving on http://${address ?? '127.0.0.1'}:`), out);
  const safe = await start(t, { GANTRY_PUBLIC_URL: 'https://gantry.example' }, '--host', '0.0.0.0');
  assert.equal(safe.err, '');
});

test('a host that npm started stops when npm does', async (t) => {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const command = `"${process.execPath}" "${MAIN}" --data "${folder.path}" --port 0 --log error; true`;
  const env = { PATH: process.env.PATH, NODE_NO_WARNINGS: '1', npm_lifecycle_event: 'start' };
  const shell = spawn('sh', ['-c', command], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  await once(shell.stdout, 'data');
  const ended = once(shell.stdout, 'close');
  shell.kill('SIGTERM');
  await ended;
  assert.ok(!existsSync(`${folder.path}/gantry.pid`));
});

test('an admin key that can be guessed ends the start', async (t) => {
  const { err, code } = await start(t, { GANTRY_ADMIN_KEY: 'short' });
  assert.equal(code, 2);
  assert.match(err, /^gantry: GANTRY_ADMIN_KEY must have at least 32 random characters\.\n/);
});

const notServed = (name: string, value: string): string =>
  `${name} asks for "${new URL(value).protocol}//", which is not served: use postgres:// or ` +
  'postgresql://, or data-folder. Left out, it follows GANTRY_DATABASE_URL.';

test('a setting that names a server which is not served ends the start with 2 and one sentence', async (t) => {
  const [name, value] = ['GANTRY_KV', 'redis://:open-sesame@kv:6379/0'];
  const { out, err, code } = await start(t, { [name]: value });
  assert.deepEqual([code, out], [2, '']);
  assert.equal(err.split('\n')[0], `gantry: ${notServed(name, value)}`);
});

test('so does each such setting', async (t) => {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  for (const [name, value] of [
    ['GANTRY_CACHE', 'rediss://cache:6380'],
    ['GANTRY_QUEUE', 'nats://queue:4222'],
    ['GANTRY_QUEUE', 'amqp://queue'],
  ] as const) {
    const open = async () =>
      createHost({ settings: readSettings(['--data', folder.path], { [name]: value }) });
    await assert.rejects(open, (error: Error) => {
      assert.ok(error instanceof SettingsError);
      assert.equal(error.message.split('\n')[0], notServed(name, value));
      return true;
    });
  }
});
