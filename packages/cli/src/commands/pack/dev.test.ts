import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { EXIT } from '../../io.ts';
import { realHost } from '../../testing/real-host.ts';
import { edit, packIn, packUntilInterrupted, scaffolded, temporaryFolder } from './testing/pack-folder.ts';

test('edit, save, and the next run uses it; a broken save is told and harms nothing', async (t) => {
  const { client, gantry } = await realHost(t, []);
  const folder = await scaffolded(t);
  const code = path.join(folder, 'index.mjs');
  const greeting = async () => {
    const run = await gantry('run', 'try-vendor-acme-greeter', '--watch', '--json');
    return /\w+, Ada!/.exec(run.out)?.[0];
  };
  const dev = packUntilInterrupted(client.baseUrl, 'dev', folder);
  t.after(dev.interrupt);
  await dev.says(/is installed.*\nWatching/);
  await gantry('workflows', 'register', path.join(folder, 'example.json'));
  assert.equal(await greeting(), 'Hello, Ada!');

  await edit(code, (text) => text.replace("'Hello'", "'Salut'"));
  await dev.says(/is installed/, 2);
  assert.equal(await greeting(), 'Salut, Ada!');

  await edit(code, (text) => text.replace('export const', 'export cnst'));
  await dev.says(/index\.mjs:8:\d+: error: SyntaxError/);
  assert.equal(await greeting(), 'Salut, Ada!');

  await edit(code, (text) => text.replace('cnst', 'const').replace("'Salut'", "'Ciao'"));
  await dev.says(/is installed/, 3);
  assert.equal(await greeting(), 'Ciao, Ada!');
  dev.interrupt();
  assert.equal((await dev.finished).code, EXIT.interrupted);
});

test('a version that is installed for good is not replaced by one in development', async (t) => {
  const { client, gantry } = await realHost(t, []);
  const folder = await scaffolded(t);
  await gantry('pack', 'install', folder);
  await edit(path.join(folder, 'index.mjs'), (text) => text.replace("'Hello'", "'Salut'"));
  const dev = packUntilInterrupted(client.baseUrl, 'dev', folder);
  t.after(dev.interrupt);
  const { code, err } = await dev.finished;
  assert.equal(code, EXIT.error);
  assert.match(err, /Give it a version of its own/);
});

test('a folder that is not there is named', async (t) => {
  const root = await temporaryFolder(t);
  const { code, err } = await packIn(root, 'dev', 'nowhere');
  assert.equal(code, EXIT.error);
  assert.match(err, /There is no folder nowhere/);
});
