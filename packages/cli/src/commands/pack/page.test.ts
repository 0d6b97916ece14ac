/** What docs/packs.md tells an author to type, and what comes of it. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { realHost } from '../../testing/real-host.ts';
import { packIn, SAMPLES, temporaryFolder } from './testing/pack-folder.ts';

const page = await readFile(path.join(SAMPLES, '../docs/packs.md'), 'utf8');

/** The words of the one command on the page that begins so, without `gantry`. */
function typed(beginning: string): string[] {
  const line = page.split('\n').find((each) => each.startsWith(`gantry ${beginning}`));
  assert.ok(line, beginning);
  return line.replace(/#.*/, '').trim().split(/ +/).slice(1);
}

const CASES = [
  { name: 'greeter', expected: /Hello, Ada!/, peers: undefined },
  {
    name: 'visits',
    expected: /"visits":2/,
    peers: { 'host.kvStorage': 'required', 'host.tableStorage': 'required' },
  },
];

for (const { name, expected, peers } of CASES)
  test(`the example ${name} is what pack new makes, and runs as it is typed`, async (t) => {
    const root = await temporaryFolder(t);
    const [, ...words] = typed(`pack new vendor.acme.${name}`);
    assert.equal((await packIn(root, ...words)).code, 0);
    const source = await readFile(path.join(root, name, 'index.mjs'), 'utf8');
    assert.ok(page.includes(`\`\`\`js\n${source}\`\`\`\n`), 'the page shows the code');
    const manifest = JSON.parse(await readFile(path.join(root, name, 'pack.json'), 'utf8'));
    assert.deepEqual(manifest.peerDependencies, peers);
    if (peers)
      assert.ok(page.includes(`${JSON.stringify({ peerDependencies: peers }, null, 2)}\n`), 'and the needs');

    const { gantry } = await realHost(t, []);
    assert.equal((await gantry('pack', 'install', path.join(root, name))).code, 0);
    const [run = '', file = '', ...rest] = typed(`run ${name}/example.json`);
    const again = () => gantry(run, path.join(root, file), ...rest, '--json');
    assert.equal((await again()).code, 0);
    assert.match((await again()).out, expected);
  });

test('the guestbook has an example to try it with', async (t) => {
  const { gantry } = await realHost(t, []);
  const folder = path.join(SAMPLES, 'guestbook');
  assert.equal((await gantry('pack', 'install', folder)).code, 0);
  const { code, out, err } = await gantry('run', path.join(folder, 'example.json'), '--watch', '--json');
  assert.equal(code, 0, err);
  assert.match(out, /"message":"I was here\."/);
});
