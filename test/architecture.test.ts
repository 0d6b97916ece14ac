import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const ROOT = new URL('..', import.meta.url).pathname;
const text = readFileSync(`${ROOT}/ARCHITECTURE.md`, 'utf8');
const withoutSrc = (path: string): string => `/${path}`.replace('/src/', '/');
const files = globSync('{packages,scripts,test,bench}/**/*.{ts,mjs,sql,py}', {
  cwd: ROOT,
  exclude: ['**/node_modules/**'],
}).map(withoutSrc);

const named = (section: string): string[] =>
  [...section.matchAll(/`([\w./-]+\.(?:ts|mjs|sql|py))`/g)].map(([, path]) => path!);

test('every file that ARCHITECTURE.md names exists', () => {
  const missing = named(text).filter((path) => !files.some((file) => file.endsWith(withoutSrc(path))));
  assert.deepEqual(missing, []);
});

test('one kv.put goes through at most 20 files', () => {
  const [, section = ''] = /## The way of one `kv\.put`\n(.*?)\n## /s.exec(text) ?? [];
  const count = new Set(named(section)).size;
  assert.ok(count > 10 && count <= 20, `${count} files`);
});
