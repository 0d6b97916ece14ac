/** Code runs from the bundle as long as no source is newer. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

const SOURCE = 'packages/host/src/main.ts';
const USE = path.join(import.meta.dirname, '../scripts/use-bundle.mjs');

/** In a process of its own: whatever loads the module has its imports changed. */
const fastest = (use: string, source: string): string =>
  execFileSync(
    process.execPath,
    ['-e', `import('${use}').then((m) => console.log(m.fastest('${source}')))`],
    {
      encoding: 'utf8',
    },
  ).trim();

test('a bundle is used until a source of it changes', (t) => {
  const root = mkdtempSync(path.join(tmpdir(), 'gantry-bundle-'));
  t.after(() => rmSync(root, { recursive: true }));
  const folder = path.join(root, 'node_modules/.cache/bundle');
  for (const each of [folder, path.join(root, 'packages/host/src'), path.join(root, 'node_modules/typebox')])
    mkdirSync(each, { recursive: true });
  writeFileSync(path.join(root, 'node_modules/typebox/package.json'), '{"version":"1.0.0"}');
  const source = path.join(root, SOURCE);
  const built = new Date('2026-01-01T00:00:00Z');
  const put = (text: string, at: Date): void => {
    writeFileSync(source, text);
    utimesSync(source, at, at);
  };
  put('one', built);
  const made = { builtAt: built.getTime(), typebox: '1.0.0', sizes: { [SOURCE]: 3 } };
  writeFileSync(path.join(folder, 'made.json'), JSON.stringify(made));
  cpSync(USE, path.join(folder, 'use.mjs'));
  const use = pathToFileURL(path.join(folder, 'use.mjs')).href;
  const entry = pathToFileURL(source).href;
  const bundled = pathToFileURL(path.join(folder, `${made.builtAt}/host-src-main.mjs`)).href;
  assert.equal(fastest(use, entry), bundled);
  put('two', new Date('2026-01-01T00:00:01Z'));
  assert.equal(fastest(use, entry), entry, 'written later');
  put('three', built);
  assert.equal(fastest(use, entry), entry, 'of another size');
  put('two', built);
  assert.equal(fastest(use, entry), bundled);
  rmSync(source);
  assert.equal(fastest(use, entry), entry, 'gone');
});
