import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changed, manifestOf, manifests } from '../testing/manifests.ts';
import { checkFiles } from './rules.ts';

const files = new Map([
  ['index.mjs', Buffer.from('export const nodes = {};')],
  ['schemas/upsert.config.json', Buffer.from('{"type":"object"}')],
  ['prompts/clerk.md', Buffer.from('Be kind.')],
]);
const check = (manifest: typeof manifests.node, present = files) =>
  checkFiles(manifestOf(manifest), present).map(({ path, code }) => [path, code]);

test('a pack that has what it names is whole', () => {
  assert.deepEqual(check(manifests.node), []);
});

test('every missing file is told with the position that names it', () => {
  assert.deepEqual(check(manifests.node, new Map()), [
    ['/nodes/0/configSchemaRef', 'schema_ref_missing'],
    ['/agents/0/systemPromptRef', 'schema_ref_missing'],
    ['/runtime/entry', 'tarball_entry_missing'],
  ]);
});

test('a schema must be JSON, a prompt must be text', () => {
  const spoilt = new Map(files)
    .set('schemas/upsert.config.json', Buffer.from('{'))
    .set('prompts/clerk.md', Buffer.from([0xc3, 0x28]));
  assert.deepEqual(
    check(manifests.node, spoilt).map(([path]) => path),
    ['/nodes/0/configSchemaRef', '/agents/0/systemPromptRef'],
  );
});

test('a plugin needs its bundle, a remote pack of agents needs no code', () => {
  assert.deepEqual(check(manifests['frontend-plugin']), [['/uiPlugins/0/entry', 'tarball_entry_missing']]);
  const agents = changed(changed(changed(manifests.node, '/nodes'), '/connector'), '/runtime', {
    language: 'remote',
    entry: 'pack.json',
  });
  assert.deepEqual(check(agents), []);
});
