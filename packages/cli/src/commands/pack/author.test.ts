import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { edit, packIn, scaffolded, temporaryFolder } from './testing/pack-folder.ts';

test('a new pack is right from the start, and nothing is written over', async (t) => {
  const root = await temporaryFolder(t);
  const made = await packIn(root, 'new', 'vendor.acme.greeter');
  assert.match(made.out, /gantry pack dev greeter/);
  const { code, out } = await packIn(root, 'check', 'greeter');
  assert.deepEqual({ code, out }, { code: 0, out: 'vendor.acme.greeter@0.1.0: 0 errors, 0 warnings\n' });
  const again = await packIn(root, 'new', 'vendor.acme.greeter');
  assert.equal(again.code, 2);
  assert.match(again.err, /is not empty/);
});

test('a name without scope and owner is refused with an example', async (t) => {
  const root = await temporaryFolder(t);
  const { code, err } = await packIn(root, 'new', 'greeter');
  assert.equal(code, 2);
  assert.match(err, /vendor\.acme\.greeter/);
});

test('check tells everything at once, with file, line and column', async (t) => {
  const folder = await scaffolded(t);
  await edit(path.join(folder, 'pack.json'), (text) =>
    text.replace('"version": "0.1.0"', '"version": "one"').replace('"category": "data"', '"categry": "data"'),
  );
  await writeFile(path.join(folder, 'schemas/hello-inputs.json'), '{\n  "type": object\n}\n');
  const { code, out } = await packIn(folder, 'check', '.');
  assert.equal(code, 1);
  assert.match(out, /^pack\.json:3:14: error: \/version: /m);
  assert.match(out, /^pack\.json:\d+:\d+: error: \/nodes\/0: .*category/m);
  assert.match(out, /^pack\.json:\d+:\d+: error: \/nodes\/0\/categry: /m);
  assert.match(out, /^schemas\/hello-inputs\.json:2:11: error: /m);
});

test('check finds references to nothing and code that does not load', async (t) => {
  const folder = await scaffolded(t);
  await rm(path.join(folder, 'schemas/hello-config.json'));
  await rm(path.join(folder, 'README.md'));
  await edit(path.join(folder, 'index.mjs'), (text) => text.replace('export const', 'export cnst'));
  const { code, out } = await packIn(folder, 'check', '.');
  assert.equal(code, 1);
  assert.match(out, /^pack\.json:\d+:\d+: error: schemas\/hello-config\.json: /m);
  assert.match(out, /^index\.mjs:8:\d+: error: SyntaxError: /m);
  assert.match(out, /^pack\.json:1:1: warning: README\.md is missing/m);
});

test('check compares what the code offers with what the manifest lists', async (t) => {
  const folder = await scaffolded(t);
  await edit(path.join(folder, 'index.mjs'), (text) => text.replace('greeter.hello', 'greeter.helo'));
  const { code, out } = await packIn(folder, 'check', '.');
  assert.equal(code, 1);
  assert.match(out, /^pack\.json:\d+:\d+: error: index\.mjs does not offer vendor\.acme\.greeter\.hello\./m);
  assert.match(out, /^index\.mjs:1:1: warning: It offers vendor\.acme\.greeter\.helo, /m);
});

test('check finds Python that cannot be imported or lacks a function', async (t) => {
  const folder = await scaffolded(t);
  const manifest = path.join(folder, 'pack.json');
  await edit(manifest, (text) => {
    const { runtime, ...rest } = JSON.parse(text);
    return JSON.stringify({ ...rest, runtime: { language: 'python', entry: 'nodes.py' } }, null, 2);
  });
  const checked = async (code: string) => {
    await writeFile(path.join(folder, 'nodes.py'), code);
    return (await packIn(folder, 'check', '.')).out;
  };
  const hello = "nodes = {'vendor.acme.greeter.hello': lambda ctx: {}}\n";
  assert.match(await checked(hello), /: 0 errors, 0 warnings/);
  assert.match(
    await checked(`import json\nimport nowhere\n${hello}`),
    /^nodes\.py:2:1: error: ModuleNotFoundError: .*nowhere/m,
  );
  assert.match(await checked('def f(:\n'), /^nodes\.py:1:1: error: SyntaxError: /m);
  assert.match(
    await checked("nodes = {'vendor.acme.greeter.helo': print}\n"),
    /error: nodes\.py does not offer vendor\.acme\.greeter\.hello\./,
  );
  assert.match(await checked("nodes = {'vendor.acme.greeter.hello': 'text'}\n"), /does not offer/);
  assert.match(await checked(`open('/tmp/x', 'w')\n${hello}`), /^nodes\.py:1:1: error: PermissionError: /m);
  assert.equal(existsSync(path.join(folder, '__pycache__')), false);
});

test('check loads code where it can reach nothing but the pack', async (t) => {
  const folder = await scaffolded(t);
  const outside = path.join(folder, '..', 'outside.txt');
  await writeFile(outside, 'x');
  const reads = `import { readFileSync } from 'node:fs';\nreadFileSync(${JSON.stringify(outside)});\n`;
  await edit(path.join(folder, 'index.mjs'), (text) => reads + text);
  const { code, out } = await packIn(folder, 'check', '.');
  assert.equal(code, 1);
  assert.match(out, /^index\.mjs:2:1: error: Error: Access to this API has been restricted/m);
  assert.match(out, /^index\.mjs:1:\d+: warning: 'node:fs' needs "fs\.read" in runtime\.requires/m);
});

/** What `check` says of the storing pack when something in it is changed. */
async function checked(
  t: TestContext,
  file: string,
  change: (text: string) => string,
): Promise<{ code: number; out: string }> {
  const folder = await scaffolded(t, 'vendor.acme.visits', '--storage');
  await edit(path.join(folder, file), change);
  const { code, out } = await packIn(folder, 'check', '.');
  return { code, out };
}

test('check knows the names and values of peer dependencies without a host', async (t) => {
  const { code, out } = await checked(t, 'pack.json', (text) =>
    text
      .replace('host.kvStorage', 'host.kvstorage')
      .replace('"host.tableStorage": "required"', '"sql": "yes"'),
  );
  assert.equal(code, 0);
  assert.match(out, /^pack\.json:11:\d+: warning: .*host\.kvstorage.*\(did you mean host\.kvStorage\?\)/m);
  assert.match(out, /^pack\.json:12:\d+: warning: \/peerDependencies\/sql: "yes" is not a valid value/m);
});

test('check warns of calls that the host will refuse, since the manifest names other capabilities', async (t) => {
  const { out } = await checked(t, 'pack.json', (text) =>
    text.replace('"host.tableStorage": "required"', '"host.cache": "optional"'),
  );
  assert.match(
    out,
    /^index\.mjs:\d+:\d+: warning: tableStorage is called: add "host\.tableStorage" to peerDep/m,
  );
  assert.doesNotMatch(out, /"host\.kvStorage"/);
});

test('check follows ctx, and takes the files of Node for no surface', async (t) => {
  const helper = [
    "import fs from 'node:fs';",
    'const helper = (c) => fs.readFileSync(c.db?.sql?.query);',
    'const wrapped = (given) => { const { queueBus, ...rest } = given; return helper(rest); };',
  ].join('\n');
  const { out } = await checked(
    t,
    'index.mjs',
    (text) =>
      `${helper}\n${text.replace('({ inputs, storage }) {', '({ inputs, storage, ...all }) { wrapped(all);')}`,
  );
  assert.match(out, /^index\.mjs:2:\d+: warning: sql is called/m);
  assert.match(out, /^index\.mjs:3:\d+: warning: queueBus is called/m);
  assert.doesNotMatch(out, /host\.fs/);
});

test('who installs a pack that names no capability is asked, so its author is told', async (t) => {
  const { out } = await checked(t, 'pack.json', (text) => {
    const { peerDependencies: _, ...manifest } = JSON.parse(text);
    return JSON.stringify(manifest);
  });
  assert.match(out, /tableStorage is called: .*the operator must grant it at install/);
});

test('the same folder gives the same bytes, whatever the times of its files', async (t) => {
  const folder = await scaffolded(t);
  const first = await packIn(folder, 'build', '.', '--out', '../first.tgz', '--json');
  await utimes(path.join(folder, 'index.mjs'), 1, 1);
  const second = await packIn(folder, 'build', '.', '--out', '../second.tgz', '--json');
  assert.equal(JSON.parse(first.out).integrity, JSON.parse(second.out).integrity);
  await edit(path.join(folder, 'index.mjs'), (text) => `${text}\n`);
  const third = await packIn(folder, 'build', '.', '--out', '../third.tgz', '--json');
  assert.notEqual(JSON.parse(third.out).integrity, JSON.parse(first.out).integrity);
});

test('a pack that is not right is not built', async (t) => {
  const folder = await scaffolded(t);
  await rm(path.join(folder, 'index.mjs'));
  const { code, out } = await packIn(folder, 'build', '.');
  assert.equal(code, 1);
  assert.match(out, /index\.mjs: The file is not in the pack\./);
});

test('a new pack in Python is right from the start', async (t) => {
  const root = await temporaryFolder(t);
  for (const [name, ...more] of [['vendor.acme.greeter'], ['vendor.acme.visits', '--storage']] as const) {
    await packIn(root, 'new', name, '--language', 'python', ...more);
    const folder = name.slice(name.lastIndexOf('.') + 1);
    const { code, out } = await packIn(root, 'check', folder);
    assert.deepEqual({ code, out }, { code: 0, out: `${name}@0.1.0: 0 errors, 0 warnings\n` });
    assert.ok(!existsSync(path.join(root, folder, 'index.mjs')));
  }
  const other = await packIn(root, 'new', 'vendor.acme.other', '--language', 'pyhton');
  assert.match(other.err, /There is no language "pyhton"\. Did you mean python\?/);
});
