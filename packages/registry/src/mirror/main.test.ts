/** The mirror as a process, as an operator starts it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Documents, writeDocuments } from '../../../packs/src/registry/testing/memory-registry.ts';
import { pack, sourceDocuments } from '../testing/mirror.ts';
import { startRegistryProcess } from '../testing/registry-process.ts';
import { temporaryFolder, testRegistry } from '../testing/test-registry.ts';
import { runMirror } from './main.ts';

const MAIN = fileURLToPath(new URL('../../bin/registry.mjs', import.meta.url));
const VERSIONS = Array.from({ length: 30 }, (_, index) => `1.${index}.0`);

async function folder(t: TestContext): Promise<string> {
  const made = await temporaryFolder();
  t.after(made.remove);
  return made.path;
}

function start(...args: string[]) {
  const child = spawn(process.execPath, [MAIN, 'mirror', ...args], {
    env: { ...process.env, NODE_NO_WARNINGS: '1', GANTRY_LOG: 'error' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { out: '', err: '' };
  child.stdout.on('data', (chunk) => (said.out += chunk));
  child.stderr.on('data', (chunk) => (said.err += chunk));
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, ...said }));
  return { child, ended };
}

/** Serves the documents; `asked` hears of each before it is answered. */
async function serve(t: TestContext, documents: Documents, asked: (path: string) => Promise<void> | void) {
  const server = createServer(async (request, response) => {
    const address = decodeURIComponent(request.url ?? '');
    await asked(address);
    const found = documents.get(address);
    response.writeHead(found === undefined ? 404 : 200).end(found);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  /** When all that a dead client has asked for was heard: connections are taken, and end, in their order. */
  const isHeard = async (): Promise<void> => {
    await fetch(`${url}/nothing`, { headers: { connection: 'close' } });
    while (await new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count))))
      await new Promise(setImmediate);
  };
  return { url, isHeard };
}

test('killed half-way, it goes on where it was; a registry then serves it all', async (t) => {
  const data = await folder(t);
  const documents = await sourceDocuments(VERSIONS.map((version) => pack('vendor.acme.tools', version)));
  let archives = 0;
  const half = Promise.withResolvers<void>();
  const dead = Promise.withResolvers<void>();
  const { url, isHeard } = await serve(t, documents, (path) => {
    if (!path.endsWith('.tgz')) return undefined;
    archives++;
    if (archives === 15) half.resolve();
    return archives < 15 ? undefined : dead.promise;
  });
  const first = start(url, '--data', data);
  await half.promise;
  first.child.kill('SIGKILL');
  assert.equal((await first.ended).signal, 'SIGKILL');
  dead.resolve();
  await isHeard();
  const asked = archives;

  const second = await start(url, '--data', data).ended;
  assert.equal(second.code, 0, second.out + second.err);
  const [, copied, there] =
    /30 versions of 1 pack: (\d+) copied .*?, (\d+) there already/.exec(second.out) ?? [];
  assert.equal(Number(copied) + Number(there), 30);
  assert.ok(Number(there) >= 8, second.out);
  assert.equal(archives - asked, Number(copied));
  assert.match(second.out, /^30 of 30 versions: /m);
  assert.ok(!second.out.includes('\r'), 'plain lines without a terminal');

  const registry = await startRegistryProcess(data);
  t.after(() => registry.kill());
  const answer = await fetch(`${registry.url}/v1/packs/vendor.acme.tools`);
  const { versions } = (await answer.json()) as { versions: object };
  assert.equal(Object.keys(versions).length, 30);
});

test('what was refused is named with its reason, and the exit code says so', async (t) => {
  const source = await folder(t);
  const documents = await sourceDocuments([
    pack('vendor.acme.tools'),
    pack('vendor.acme.mail', '1.0.0', { method: 'none' }),
  ]);
  await writeDocuments(documents, source);
  const data = await folder(t);
  const { code, out } = await start(source, '--data', data).ended;
  assert.equal(code, 1);
  assert.match(out, /1 copied .*1 refused\./);
  assert.match(out, /^ {2}vendor\.acme\.mail@1\.0\.0: pack_signature_unverifiable: .*not signed/m);
  assert.equal(await mirror(source, '--data', data, '--only', 'vendor.acme.tools'), 0);
});

/** The same without a process of its own. */
async function mirror(...args: string[]): Promise<number> {
  const output = { write: () => undefined };
  const env = { GANTRY_LOG: 'error' };
  return runMirror(args, env, { output, signal: new AbortController().signal });
}

test('a command line that cannot work says why', async (t) => {
  const data = await folder(t);
  const refusals = [
    [[], /Usage: gantry registry mirror <url\|folder>/, 'SettingsError'],
    [['a', 'b'], /Usage/, 'SettingsError'],
    [['a', '--onyl', 'b'], /--onyl/, 'SettingsError'],
    [['a', '--only', 'vendor acme'], /neither a name nor a namespace/, 'SettingsError'],
    [['a', '--as', 'elsewhere'], /--as must be an address/, 'SettingsError'],
    [['ftp://example.org'], /neither https/, 'SettingsError'],
    [[data], /no registry tree/, 'OpenwopError'],
    [['http://127.0.0.1:1'], /is not reached/, 'OpenwopError'],
  ] as const;
  for (const [args, said, kind] of refusals)
    await assert.rejects(mirror(...args, '--data', data), (error: Error) => {
      assert.match(error.message, said);
      assert.equal(error.constructor.name, kind);
      return true;
    });
});

test('the folder of a registry that runs is left alone', async (t) => {
  const data = await folder(t);
  const source = await folder(t);
  await writeDocuments(await sourceDocuments([pack('vendor.acme.tools')]), source);
  await testRegistry(t, { dataDir: data });
  await assert.rejects(mirror(source, '--data', data), /is in use by .*Stop the other process/);
});
