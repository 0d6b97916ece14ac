/** What a browser has to load. Counted, not timed. */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { temporaryFolder } from '../../host/src/testing/host-process.ts';

const KB = 1_000;
const ROOT = path.join(import.meta.dirname, '../../..');

test('the client brings no schemas into the browser', async () => {
  const { build } = await import('esbuild');
  const contents = `import { createClient } from '@gantry/client'; globalThis.made = createClient;`;
  const built = await build({
    stdin: { contents, resolveDir: path.join(ROOT, 'packages/console') },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    metafile: true,
  });
  const parts = Object.keys(built.metafile.inputs).filter((file) => file.includes('typebox'));
  const used = Object.values(built.metafile.outputs)[0]!.inputs;
  assert.deepEqual(
    parts.filter((file) => (used[file]?.bytesInOutput ?? 0) > 0),
    [],
  );
  assert.ok(gzipSync(built.outputFiles[0]!.contents, { level: 9 }).length < 6 * KB);
});

test('the console stays light, and its files are compressed and named by their content', async (t) => {
  const { buildConsole } = await import('../../../scripts/build-console.mjs');
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const first = await buildConsole({ folder: folder.path });
  const assets = path.join(folder.path, 'assets');
  const { page } = JSON.parse(await readFile(path.join(folder.path, 'made.json'), 'utf8'));
  const asked = [...page.matchAll(/\/assets\/([\w.-]+)/g)].map(([, name]) => name);
  const sizeOf = async (name: string) => (await readFile(path.join(assets, `${name}.gz`))).length;
  const texts = asked.filter((name) => /\.(js|css)$/.test(name));
  const sizes = await Promise.all(texts.map(sizeOf));
  assert.ok(sizes.reduce((sum, size) => sum + size, 0) < 200 * KB, sizes.join());
  const before = await readdir(assets);
  assert.deepEqual((await buildConsole({ folder: folder.path })).files, first.files);
  assert.deepEqual(await readdir(assets), before, 'the same sources make the same files');
});
