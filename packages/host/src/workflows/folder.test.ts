import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { apiTest } from '../api/testing/api-test.ts';
import { temporaryFolder } from '../testing/host-process.ts';

const flow = (id: string, name: string): string =>
  `id: ${id}\nname: ${name}\nversion: 1.0.0\nnodes:\n  - { id: a, typeId: core.noop, name: A }\n`;

test('the folder is served in YAML and JSON; bad files and second ones are named and skipped', async (t) => {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const workflowsDir = path.join(folder.path, 'workflows');
  await mkdir(workflowsDir);
  const files = {
    'hello.yaml': flow('hello', 'First'),
    'hello2.yml': flow('hello', 'Second'),
    'plain.json':
      '{"id":"plain","name":"P","version":"1.0.0","nodes":[{"id":"a","typeId":"core.noop","name":"A"}]}',
    'tab.yaml': 'id: tab\nname:\n\t- x\n',
    'notes.txt': 'not read',
  };
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(workflowsDir, name), text);
  const lines: { file?: string; reason?: string }[] = [];
  const { get } = await apiTest(t, {
    workflows: [],
    settings: { workflowsDir, logLevel: 'warn' },
    logTo: { write: (line: string) => void lines.push(JSON.parse(line)) },
  });
  assert.equal((await get('/v1/workflows/hello')).json().name, 'First');
  assert.equal((await get('/v1/workflows/plain')).statusCode, 200);
  const skipped = lines.filter(({ file }) => file).map(({ file, reason }) => `${file} ${reason}`);
  assert.deepEqual(skipped, [
    'hello2.yml hello.yaml and hello2.yml both define the workflow hello. Delete one, or rename its id.',
    'tab.yaml line 3, column 1: Tabs are not allowed as indentation.',
  ]);
});
