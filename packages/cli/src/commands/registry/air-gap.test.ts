/** From a registry to a host that reaches nothing but a mirror of it. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { registryFolder } from '../../../../host/src/packs/testing/registry-folder.ts';
import { temporaryFolder } from '../../../../registry/src/testing/test-registry.ts';
import { realHost } from '../../testing/real-host.ts';
import { runHere, startCli } from '../../testing/test-host.ts';

const CRM = 'vendor.acme.crm';
const MAIL = 'vendor.acme.mail';

test('a host installs from the copy, with what the pack needs, and the registry it was made from is gone', async (t) => {
  const work = { nodes: { [`${CRM}.work`]: { body: 'return {};' } } };
  const source = await registryFolder(t);
  await source.publish({ name: MAIL, version: '1.0.0', nodes: { [`${MAIL}.send`]: { body: 'return {};' } } });
  await source.publish({
    name: CRM,
    version: '1.0.0',
    ...work,
    manifest: { dependencies: { [MAIL]: '^1.0.0' } },
  });
  await source.publish(
    { name: CRM, version: '1.1.0', ...work },
    { served: { yanked: true, yankedReason: 'It burns.' } },
  );
  const made = await temporaryFolder();
  t.after(made.remove);
  const mirror = path.join(made.path, 'mirror');
  const copied = await runHere(['registry', 'mirror', source.path, mirror]);
  assert.equal(copied.code, 0, copied.stdout + copied.stderr);
  assert.match(copied.stdout, /3 versions of 2 packs: 3 copied/);
  await source.close();

  const { client } = await realHost(t, [], { settings: { registries: [mirror] } });
  const installed = await client.packs.installFromRegistry({ name: CRM, range: '^1.0.0' });
  assert.deepEqual([installed.version, installed.trust, installed.signedBy], ['1.0.0', 'signed', 'acme-1']);
  const names = (await client.packs.list()).map(({ name }) => name).sort();
  assert.deepEqual(names, [CRM, MAIL]);
});

test('a registry is started here, and drains when it is told to end', async (t) => {
  const made = await temporaryFolder();
  t.after(made.remove);
  const words = ['registry', 'start', '--port', '0', '--data', made.path];
  const registry = startCli(words, { env: { GANTRY_LOG: 'error' } });
  await registry.says('Admin key (shown once');
  registry.kill('SIGTERM');
  const { code, stdout } = await registry.finished;
  assert.equal(code, 0);
  assert.match(stdout, /^The registry is serving on http:\/\/127\.0\.0\.1:\d+$/m);
  const wrong = await startCli(['registry', 'start', '--prot', '0']).finished;
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /--prot[\s\S]*--port/);
});
