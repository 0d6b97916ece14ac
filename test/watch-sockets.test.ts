import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const SCRIPT = fileURLToPath(new URL('../scripts/watch-sockets.mjs', import.meta.url));
const { filesIn, mayConnect } = await import(SCRIPT);
const run = promisify(execFile);

const EGRESS = 'packages/egress/src/connect.ts';
const DRIVER = 'packages/postgres/src/wire.ts';
const PRODUCT = 'packages/host/src/webhooks/send.ts';
const TEST = 'packages/host/src/webhooks/send.test.ts';
const LIBRARY = 'node_modules/some-client/index.js';
const FETCH = 'node_modules/undici/lib/core/connect.js';

test('egress and drivers may connect; other code of a host may not', () => {
  for (const isHost of [true, false]) {
    assert.equal(mayConnect([EGRESS, PRODUCT], isHost), true);
    assert.equal(mayConnect([LIBRARY, EGRESS, PRODUCT, TEST], isHost), true);
    assert.equal(mayConnect([DRIVER], isHost), true);
    assert.equal(mayConnect([PRODUCT], isHost), false);
    assert.equal(mayConnect([PRODUCT, TEST], isHost), false);
    assert.equal(mayConnect([LIBRARY, PRODUCT], isHost), false);
    assert.equal(mayConnect([LIBRARY], isHost), false);
  }
});

test('tests and clients connect in test processes only', () => {
  for (const files of [[TEST], ['packages/client/src/client.ts', TEST], [LIBRARY, TEST], [FETCH], []])
    assert.deepEqual([mayConnect(files, false), mayConnect(files, true)], [true, false]);
});

test('files are read from stacks', () => {
  const stack =
    'Error: x\n    at f (file:///r/packages/a.ts:1:2)\n    at node:net:1:1\n    at /r/test/b.ts:3:4';
  assert.deepEqual(filesIn(stack, '/r'), ['packages/a.ts', 'test/b.ts']);
});

test('and from bundles, by the sources in them', (t) => {
  const root = mkdtempSync(path.join(tmpdir(), 'gantry-watch-'));
  t.after(() => rmSync(root, { recursive: true }));
  const folder = path.join(root, 'node_modules/.cache/bundle/1');
  mkdirSync(folder, { recursive: true });
  const source = ['import 1', `// ${EGRESS}`, 'connect()', `// ${PRODUCT}`, '// packages of it', 'send()'];
  writeFileSync(path.join(folder, 'host.mjs'), source.join('\n'));
  const stack = [3, 6, 1].map((row) => `    at f (file://${folder}/host.mjs:${row}:2)`).join('\n');
  assert.deepEqual(filesIn(stack, root), [EGRESS, PRODUCT, 'node_modules/.cache/bundle/1/host.mjs']);
});

for (const [name, code] of Object.entries({
  socket: `require('node:net').connect(1, '127.0.0.1').on('error', () => {})`,
  request: `require('node:http').get('http://127.0.0.1:1').on('error', () => {})`,
  fetch: `fetch('http://127.0.0.1:1').catch(() => {})`,
}))
  test(`a host that connects by ${name} fails and says why`, async () => {
    const preload = `--import=${pathToFileURL(SCRIPT)}`;
    await run(process.execPath, [preload, '-e', code]);
    const failure = await run(process.execPath, [`${preload}?host`, '-e', code]).catch((error) => error);
    assert.match(String(failure.stderr), /opened by other code than packages\/egress/);
  });
