/** Workflow files in YAML: written, checked, run and shown. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../host/src/testing/host-process.ts';
import { realHost } from './testing/real-host.ts';

const FLOW = `id: report
name: Report
version: 1.0.0
variables:
  - { name: city, type: string, required: true }
nodes:
  - id: ask
    typeId: core.conditional
    name: Is it Bern?
    config:
      expression: variables.city == 'Bern'
`;

test('a definition in YAML is checked by line, run, shown short and registered again as the same version', async (t) => {
  const { gantry, client } = await realHost(t, []);
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const file = join(folder.path, 'report.yaml');
  await writeFile(file, FLOW.replace('expression:', 'expresion:'));
  const wrong = await gantry('workflows', 'check', file);
  assert.equal(wrong.code, 1, wrong.err);
  assert.match(
    wrong.out,
    /report\.yaml:11:7: error: node ask \(\/nodes\/0\/config\/expresion\): .*\. Did you mean expression\?\n/,
  );
  await writeFile(file, `${FLOW}id: again\n`);
  const twice = await gantry('workflows', 'check', file);
  assert.equal(twice.code, 2);
  assert.match(twice.err, /report\.yaml:12:1: Duplicate key "id"/);

  await writeFile(file, FLOW);
  const inputs = join(folder.path, 'inputs.yml');
  await writeFile(inputs, 'city: Bern\n');
  const ran = await gantry('run', file, '--input-file', inputs, '--watch');
  assert.equal(ran.code, 0, ran.err);
  assert.match(ran.out, /"result": true/);

  const shown = await gantry('workflows', 'show', 'report', '--format', 'yaml');
  assert.doesNotMatch(shown.out, /position|metadata|inputs/);
  await writeFile(file, shown.out);
  const [before] = await client.workflows.list();
  const again = await gantry('workflows', 'register', file, '--json');
  assert.equal(JSON.parse(again.out).hash, before?.hash);
  const unknown = await gantry('workflows', 'show', 'report', '--format', 'yml');
  assert.match(unknown.err, /There is no format "yml"\. Did you mean yaml\?/);
});

test('a new file in YAML names the schema for editors, and runs', async (t) => {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const { gantry } = await realHost(t, [], { cwd: folder.path });
  assert.match((await gantry('workflows', 'new', 'hello', '--format', 'yaml')).out, /^hello\.yaml\n/);
  const text = await readFile(join(folder.path, 'hello.yaml'), 'utf8');
  assert.match(text, /^# yaml-language-server: \$schema=http:\S+\/workflow-schema\.json\nid: hello\n/);
  const ran = await gantry('run', './hello.yaml', '--watch');
  assert.match(ran.out, /"greeting": "Hello, world!"/, ran.err);
});
