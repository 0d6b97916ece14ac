import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { node, workflow } from '../../host/src/testing/definitions.ts';
import { temporaryFolder } from '../../host/src/testing/host-process.ts';
import { realHost } from './testing/real-host.ts';

const content = { title: 'Hello', body: 'From a run.' };
const noting = workflow('noting', [
  node(
    'report',
    'core.identity',
    {},
    { artifactType: 'vendor.acme.report', inputs: { artifact: { type: 'static', value: content } } },
  ),
  node('gate', 'core.approvalGate'),
]);

test('artifacts: listed, read as documents, edited and stored again', async (t) => {
  const folder = await temporaryFolder();
  t.after(() => folder.remove());
  const host = await realHost(t, [noting]);
  const { runId } = await host.client.runs.create({ workflowId: 'noting' });
  const gantry = (action: string, ...args: string[]) => host.gantry('artifacts', action, runId, ...args);

  assert.match((await gantry('ls')).out, /report +1 +vendor\.acme\.report +no .* Hello/);
  assert.deepEqual(JSON.parse((await gantry('show', 'report')).out), content);
  assert.equal(JSON.parse((await gantry('show', 'report', '--json')).out).version, '1');
  assert.match((await gantry('show', 'report', '--as', 'md')).out, /^# Hello\n\n\*\*body:\*\* From a run/);
  const page = `${folder.path}/report.html`;
  assert.equal((await gantry('show', 'report', '--as', 'html', '--out', page)).code, 0);
  assert.match(await readFile(page, 'utf8'), /^<!doctype html>/);
  const wrong = await gantry('show', 'report', '--as', 'pdf');
  assert.equal(wrong.code, 2);

  const file = `${folder.path}/better.json`;
  await writeFile(file, JSON.stringify({ title: 'Better' }));
  assert.match((await gantry('edit', 'report', file)).out, /gantry artifacts register run_/);
  assert.match((await gantry('register', 'report')).out, /report is stored as version 2/);
  assert.deepEqual(JSON.parse((await gantry('show', 'report')).out), { title: 'Better' });
  assert.deepEqual(JSON.parse((await gantry('show', 'report', '--version', '1')).out), content);
  const again = await gantry('register', 'report');
  assert.deepEqual([again.code, /Version 2 was stored after/.test(again.err)], [2, true], again.err);
  const missing = await gantry('show', 'none');
  assert.match(missing.err, /gantry artifacts ls/);
});
