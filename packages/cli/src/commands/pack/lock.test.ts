import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import type { TestPack } from '../../../../host/src/packs/testing/pack-archive.ts';
import { registryFolder } from '../../../../host/src/packs/testing/registry-folder.ts';
import { workspace } from './testing/workspace.ts';

const CRM = 'vendor.acme.crm';
const MAIL = 'vendor.acme.mail';

const pack = (name: string, version: string, manifest: TestPack['manifest'] = {}): TestPack => ({
  name,
  version,
  manifest,
  nodes: { [`${name}.work`]: { body: 'return {};' } },
});

/** `crm` 1.0.0 needs `mail` ^1, of which there is 1.0.0; a workflow asks for `crm` ^1. */
async function sales(t: TestContext) {
  const registry = await registryFolder(t);
  await registry.publish(pack(MAIL, '1.0.0'));
  await registry.publish(pack(CRM, '1.0.0', { dependencies: { [MAIL]: '^1.0.0' } }));
  const here = await workspace(t, { GANTRY_REGISTRY_URL: registry.path });
  await here.workflow('sales', { [CRM]: { version: '^1.0.0' } });
  return { registry, ...here };
}

test('what workflows ask for is locked with all that it depends on, and the same again', async (t) => {
  const { pack: run, lockText, locked } = await sales(t);
  const first = await run('lock');
  assert.equal(first.code, 0, first.err);
  assert.equal(first.out, `+ ${CRM} 1.0.0\n+ ${MAIL} 1.0.0\npack-lock.json is written: 2 packs.\n`);
  assert.deepEqual(await locked(), { [CRM]: '1.0.0', [MAIL]: '1.0.0' });
  const text = await lockText();
  const again = await run('lock');
  assert.equal(again.out, 'pack-lock.json is up to date: 2 packs.\n');
  assert.equal(await lockText(), text);
});

test('a new release moves nothing; a new wish moves what it must', async (t) => {
  const { registry, pack: run, locked, workflow } = await sales(t);
  await run('lock');
  await registry.publish(pack(MAIL, '1.1.0'));
  await registry.publish(pack(MAIL, '1.2.0'));
  await registry.publish(pack(CRM, '1.1.0', { dependencies: { [MAIL]: '^1.0.0' } }));
  assert.equal((await run('lock', '--check')).code, 0, 'what somebody published is no change here');
  await workflow('news', { [MAIL]: { version: '~1.1.0' } });
  const check = await run('lock', '--check');
  assert.equal(check.code, 1);
  assert.match(check.out, /~ vendor\.acme\.mail 1\.0\.0 → 1\.1\.0\npack-lock\.json would change/);
  assert.match(check.err, /gantry pack lock/);
  assert.equal((await locked())[MAIL], '1.0.0', 'a check writes nothing');
  await run('lock');
  assert.deepEqual(await locked(), { [CRM]: '1.0.0', [MAIL]: '1.1.0' });
});

test('a pinned pack gives way when what it depends on has to move', async (t) => {
  const { registry, pack: run, locked, workflow } = await sales(t);
  await run('lock');
  await registry.publish(pack(MAIL, '2.0.0'));
  await registry.publish(pack(CRM, '1.5.0', { dependencies: { [MAIL]: '^2.0.0' } }));
  await workflow('news', { [MAIL]: { version: '^2.0.0' } });
  const moved = await run('lock');
  assert.equal(moved.code, 0, moved.err);
  assert.deepEqual(await locked(), { [CRM]: '1.5.0', [MAIL]: '2.0.0' });
});

test('what nobody asks for any more leaves the lockfile', async (t) => {
  const { pack: run, workflow } = await sales(t);
  await run('lock');
  await workflow('sales', { 'local.acme.draft': {} });
  const { out, err } = await run('lock');
  assert.equal(
    out,
    `- ${CRM} 1.0.0\n- ${MAIL} 1.0.0\npack-lock.json is written: 0 packs. No workflow there names packs.\n`,
  );
  assert.match(err, /local\.acme\.draft stays on this machine/);
});

test('an override beats ranges, stays in the lockfile, and is taken back', async (t) => {
  const { registry, pack: run, locked, lockText } = await sales(t);
  await registry.publish(pack(MAIL, '1.1.0'));
  await run('lock');
  assert.equal((await locked())[MAIL], '1.1.0');
  await run('lock', '--override', `${MAIL}=1.0.0`);
  await run('lock');
  assert.equal((await locked())[MAIL], '1.0.0');
  assert.deepEqual(JSON.parse(await lockText()).overrides, { [MAIL]: '1.0.0' });
  const slip = await run('lock', '--override', 'vendor.acme.mial=1.0.0');
  assert.equal(slip.code, 2);
  assert.match(slip.err, /nothing asks for\. Did you mean vendor\.acme\.mail\?/);
  await run('lock', '--override', `${MAIL}=`);
  assert.equal(JSON.parse(await lockText()).overrides, undefined);
});

test('withdrawn, deprecated and vulnerable versions are told', async (t) => {
  const { registry, pack: run, workflow } = await sales(t);
  await workflow('old', { 'vendor.acme.old': { version: '1.0.0' } });
  await registry.publish(pack('vendor.acme.old', '1.0.0'), { served: { yanked: { reason: 'It leaks.' } } });
  const served = { deprecated: true, deprecationReason: 'Unkept.', supersededBy: 'vendor.acme.post' };
  await registry.publish(pack(MAIL, '1.0.1'), { served });
  await registry.advise([
    {
      id: 'OPENWOP-2026-0001',
      publishedAt: '2026-05-02T00:00:00Z',
      severity: 'high',
      summary: 'Bad.',
      affected: [{ packName: CRM, versions: '<1.0.1', fixedIn: '1.0.1' }],
    },
  ]);
  const { err, code } = await run('lock');
  assert.equal(code, 0, err);
  assert.match(err, /vendor\.acme\.old@1\.0\.0 is yanked: It leaks\./);
  assert.match(err, /vendor\.acme\.mail@1\.0\.1 is deprecated: Unkept\.; superseded by vendor\.acme\.post/);
  assert.match(err, /vendor\.acme\.crm@1\.0\.0 has OPENWOP-2026-0001 \(high\): Bad\.; fixed in 1\.0\.1/);
});

test('other content under a locked version is refused, and so is another than a workflow takes', async (t) => {
  const { registry, pack: run, lockText, workflow } = await sales(t);
  await run('lock');
  const before = await lockText();
  await registry.publish({ ...pack(MAIL, '1.0.0'), files: { 'more.json': {} } });
  const replaced = await run('lock');
  assert.equal(replaced.code, 2);
  assert.match(replaced.err, /vendor\.acme\.mail@1\.0\.0 is locked as sha256-\S+, and the registry now has/);
  assert.equal(await lockText(), before);
  await workflow('sales', { [CRM]: { integrity: `sha256-${'A'.repeat(43)}=` } });
  assert.match((await run('lock')).err, /workflow sales takes vendor\.acme\.crm only as sha256-A/);
});

test('the second registry is asked for what the first does not know', async (t) => {
  const first = await registryFolder(t);
  const second = await registryFolder(t);
  await first.publish(pack(CRM, '1.0.0', { dependencies: { [MAIL]: '*' } }));
  await second.publish(pack(MAIL, '1.0.0'));
  const here = await workspace(t);
  await here.workflow('sales', { [CRM]: {} });
  const { code, err } = await here.pack('lock', '--registry', `${first.path},${second.path}`);
  assert.equal(code, 0, err);
  const { registry, fallbackRegistries } = JSON.parse(await here.lockText());
  assert.match(registry, /^file:/);
  assert.equal(fallbackRegistries.length, 1);
  assert.equal((await here.pack('lock', '--check')).code, 0, 'the lockfile names its registries');
});

test('a command that cannot know everything writes nothing', async (t) => {
  const { pack: run, root } = await sales(t);
  const wrong = await run('lock', '--workflows', 'nowhere');
  assert.match(wrong.err, /Cannot read the folder nowhere \(ENOENT\)\. Name another with --workflows/);
  await writeFile(path.join(root, 'workflows', 'broken.json'), '{ "id": ');
  const broken = await run('lock');
  assert.equal(broken.code, 2);
  assert.match(broken.err, /broken\.json:1:9: Expected a value/);
  await writeFile(path.join(root, 'workflows', 'broken.json'), '{ "packs": { "vendor.acme.crm": "^1" } }');
  assert.match((await run('lock')).err, /broken\.json: "packs" must give vendor\.acme\.crm a version/);
  const unnamed = await workspace(t);
  assert.match((await unnamed.pack('lock')).err, /Say which registry to ask: --registry/);
  const plain = await unnamed.pack('lock', '--registry', 'http://packs.acme.example');
  assert.match(plain.err, /plain http is for this machine alone/);
});
