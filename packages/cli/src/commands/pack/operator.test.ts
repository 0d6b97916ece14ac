import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { manifests } from '../../../../packs/src/testing/manifests.ts';
import { realHost } from '../../testing/real-host.ts';
import { edit, packIn, scaffolded, temporaryFolder } from './testing/pack-folder.ts';

const NAME = 'vendor.acme.greeter';

/** Lets the scaffold ask for something. */
const asking = (folder: string, version: string, ...requires: string[]): Promise<void> =>
  edit(path.join(folder, 'pack.json'), (text) => {
    const manifest = JSON.parse(text);
    manifest.version = version;
    manifest.runtime.requires = requires;
    return JSON.stringify(manifest, null, 2);
  });

test('a pack is installed from its folder, and its example runs', async (t) => {
  const { gantry } = await realHost(t, []);
  const folder = await scaffolded(t);
  const installed = await gantry('pack', 'install', folder);
  assert.equal(installed.code, 0, installed.err);
  assert.equal(installed.out, `${NAME}@0.1.0 is installed: ${NAME}.hello\n`);
  const run = await gantry(
    'run',
    path.join(folder, 'example.json'),
    '--input',
    'name=Ada',
    '--watch',
    '--json',
  );
  assert.equal(run.code, 0, run.err);
  assert.match(run.out, /Hello, Ada!/);
  const { out } = await gantry('pack', 'ls');
  assert.match(out, /vendor\.acme\.greeter +0\.1\.0 +node +unsigned +nothing +vendor\.acme\.greeter\.hello/);
});

test('a signature by a key that the host does not know is told from none', async (t) => {
  const { gantry } = await realHost(t, []);
  const folder = await scaffolded(t);
  const root = await temporaryFolder(t);
  await packIn(root, 'keygen', 'stranger');
  const [pem, archive] = [path.join(root, 'stranger.pem'), path.join(root, 'signed.tgz')];
  const signed = await gantry('pack', 'sign', folder, '--signing-key', pem, '--out', archive);
  assert.equal(signed.code, 0, signed.err);
  const installed = await gantry('pack', 'install', archive);
  assert.equal(installed.code, 0, installed.err);
  assert.match((await gantry('pack', 'ls')).out, / signed by an unknown key /);
});

test('nothing is granted by silence; a grant is for what was looked at', async (t) => {
  const { gantry } = await realHost(t, []);
  const folder = await scaffolded(t);
  await asking(folder, '0.1.0', 'net.outbound');
  const refused = await gantry('pack', 'install', folder);
  assert.equal(refused.code, 2);
  assert.match(refused.out, /\+ net\.outbound {2}Send requests/);
  assert.match(refused.err, /--grant net\.outbound/);
  assert.match((await gantry('pack', 'ls')).out, /No packs yet/);

  assert.equal((await gantry('pack', 'install', folder, '--grant', 'net.outbound')).code, 0);
  await asking(folder, '0.2.0', 'net.outbound', 'net.dns');
  const more = await gantry('pack', 'install', folder);
  assert.equal(more.code, 2);
  assert.match(more.out, /\+ net\.outbound .*\n\+ net\.dns/, 'nobody signed it: other bytes hold no grant');
  assert.equal((await gantry('pack', 'install', folder, '--grant', 'net.dns,net.outbound')).code, 0);
});

test('on a terminal the person is asked', async (t) => {
  const { typing, gantry } = await realHost(t, []);
  const folder = await scaffolded(t);
  await asking(folder, '0.1.0', 'crypto');
  const no = await typing(['n'], 'pack', 'install', folder).finished;
  assert.equal(no.code, 2);
  assert.match(no.err, /Nothing was granted or installed/);
  const yes = await typing(['y'], 'pack', 'install', folder).finished;
  assert.equal(yes.code, 0, yes.err);
  assert.match((await gantry('pack', 'ls')).out, /crypto/);
});

test('only what a pack asks for can be granted to it', async (t) => {
  const { gantry } = await realHost(t, []);
  const folder = await scaffolded(t);
  const { code, err } = await gantry('pack', 'install', folder, '--grant', 'fs.read');
  assert.equal(code, 2);
  assert.match(err, /does not ask for "fs\.read"\. It asks for nothing/);
  const wrong = await gantry('pack', 'grant', NAME, 'net.outbond');
  assert.equal(wrong.code, 2);
  assert.match(wrong.err, /Did you mean net\.outbound\?/);
});

test('a grant that is taken back stops the next run with the reason', async (t) => {
  const { gantry } = await realHost(t, []);
  const folder = await scaffolded(t);
  await asking(folder, '0.1.0', 'net.outbound');
  await gantry('pack', 'install', folder, '--grant', 'net.outbound');
  const taken = await gantry('pack', 'grant', NAME, 'none');
  assert.equal(taken.out, `${NAME} is granted now: nothing\n`);
  const run = await gantry('run', path.join(folder, 'example.json'), '--watch', '--json');
  assert.equal(run.code, 1);
  assert.match(run.out, /pack_runtime_requirement_unmet/);
});

test('a permission of the operator is not offered to be granted here', async (t) => {
  const { gantry } = await realHost(t, []);
  const folder = await scaffolded(t);
  await asking(folder, '0.1.0', 'env.read');
  for (const grant of [[], ['--grant', 'env.read']]) {
    const { code, err } = await gantry('pack', 'install', folder, ...grant);
    assert.equal(code, 2);
    assert.match(err, /asks for env\.read, which only the operator of the host grants: in GANTRY_PACKS/);
    assert.doesNotMatch(err, /add: --grant/);
  }
});

test('receipts show what was used, and offer the smaller grant', async (t) => {
  const { gantry } = await realHost(t, []);
  const folder = await scaffolded(t);
  await asking(folder, '0.1.0', 'net.outbound');
  await gantry('pack', 'install', folder, '--grant', 'net.outbound');
  assert.match((await gantry('pack', 'receipts', NAME)).out, /No node of vendor\.acme\.greeter has run yet/);
  await gantry('run', path.join(folder, 'example.json'), '--watch');
  const { out } = await gantry('pack', 'receipts', NAME);
  assert.match(out, /^0\.1\.0 +\d{4}-\d\d-\d\d +1 /m);
  assert.match(out, /Granted and never used: net\.outbound\. To grant less: gantry pack grant \S+ none/);
});

test('why says where a type comes from, who uses it and what it may do', async (t) => {
  const { gantry } = await realHost(t, []);
  const folder = await scaffolded(t);
  await asking(folder, '0.1.0', 'net.outbound');
  await gantry('pack', 'install', folder, '--grant', 'net.outbound');
  const unused = await gantry('pack', 'why', `${NAME}.hello`);
  assert.match(unused.out, /vendor\.acme\.greeter\.hello is from vendor\.acme\.greeter@0\.1\.0/);
  assert.match(unused.out, /net\.outbound {2}Send requests/);
  assert.match(unused.out, /No workflow uses it/);
  await gantry('workflows', 'register', path.join(folder, 'example.json'));
  assert.match((await gantry('pack', 'why', NAME)).out, /try-vendor-acme-greeter: hello/);
  const other = 'vendor.acme.visits';
  await gantry('pack', 'install', await scaffolded(t, other, '--storage'));
  await gantry('pack', 'rm', NAME);
  const shown = await gantry('workflows', 'show', 'try-vendor-acme-greeter');
  assert.equal(JSON.parse(shown.out).nodes[0].typeId, `${NAME}.hello`, 'a workflow outlives its pack');
  assert.match((await gantry('pack', 'why', other)).out, /No workflow uses it/);
  await gantry('pack', 'install', folder, '--grant', 'net.outbound');
  const unknown = await gantry('pack', 'why', `${NAME}.helo`);
  assert.equal(unknown.code, 2);
  assert.match(unknown.err, /Did you mean vendor\.acme\.greeter\.hello\?/);
});

test('one version is removed, or all of them', async (t) => {
  const { gantry, client } = await realHost(t, []);
  const folder = await scaffolded(t);
  for (const version of ['0.1.0', '0.2.0', '0.3.0']) {
    await asking(folder, version);
    assert.equal((await gantry('pack', 'install', folder)).code, 0);
  }
  const versions = async () => (await client.packs.list()).map(({ version }) => version);
  assert.equal((await gantry('pack', 'rm', NAME, '0.2.0')).out, `${NAME}@0.2.0 removed\n`);
  assert.deepEqual(await versions(), ['0.3.0', '0.1.0']);
  assert.equal((await gantry('pack', 'rm', NAME)).out, `${NAME} removed\n`);
  assert.deepEqual(await versions(), []);
  assert.equal((await gantry('pack', 'rm', NAME)).code, 2);
});

test('what a pack stores through the host is told, by the names that its manifest has', async (t) => {
  const { gantry } = await realHost(t, []);
  const name = 'vendor.acme.visits';
  const folder = await scaffolded(t, name, '--storage');
  await gantry('pack', 'install', folder);
  const why = await gantry('pack', 'why', name);
  assert.match(why.out, /^It may store through the host: kvStorage, tableStorage$/m);
  assert.doesNotMatch(why.out, /only computes/);
  assert.match((await gantry('pack', 'ls')).out, / store \(kvStorage, tableStorage\) /);

  await edit(path.join(folder, 'pack.json'), (text) => {
    const { peerDependencies: _, ...manifest } = JSON.parse(text);
    const runtime = { ...manifest.runtime, requires: ['crypto'] };
    return JSON.stringify({ ...manifest, runtime, version: '0.2.0' });
  });
  assert.match(
    (await gantry('pack', 'install', folder)).err,
    /--grant crypto,host\.kvStorage,host\.tableStorage/,
  );
  await gantry('pack', 'install', folder, '--grant', 'crypto,host.kvStorage,host.tableStorage');
  const all = await gantry('pack', 'why', name);
  assert.match(
    all.out,
    /^It may:\n.*crypto[\s\S]*\nIt may store through the host: kvStorage, tableStorage; its manifest names none/m,
  );
  assert.match((await gantry('pack', 'ls')).out, / crypto, store \(kvStorage, tableStorage\) /);
});

test('a pack of pure nodes may read what is stored, and one without code may do nothing', async (t) => {
  const { gantry } = await realHost(t, []);
  await gantry('pack', 'install', await scaffolded(t));
  const pure = await gantry('pack', 'why', NAME);
  assert.match(pure.out, /^It has no permissions: it only computes\.$/m);
  const form = path.join(await temporaryFolder(t), 'form');
  await mkdir(form);
  await writeFile(path.join(form, 'pack.json'), JSON.stringify(manifests['form-content']));
  assert.equal((await gantry('pack', 'install', form)).code, 0);
  assert.match(
    (await gantry('pack', 'why', String(manifests['form-content'].name))).out,
    /^It has no permissions: it only computes\.$/m,
  );
});

test('a refused peer dependency says what is wrong with it', async (t) => {
  const { gantry } = await realHost(t, []);
  const installing = async (peer: string, value: string) => {
    const folder = await scaffolded(t, 'vendor.acme.visits', '--storage');
    await edit(path.join(folder, 'pack.json'), (text) =>
      text.replace('"host.kvStorage": "required"', JSON.stringify({ [peer]: value }).slice(1, -1)),
    );
    return (await gantry('pack', 'install', folder)).err;
  };
  assert.match(
    await installing('host.kv', 'supported'),
    /did you mean host\.kvStorage\?\)\. Correct peerDependencies/,
  );
  assert.match(
    await installing('host.kvStorage', 'yes'),
    /with "yes", which is not a valid value: write "supported"/,
  );
  assert.match(await installing('host.kvStorage', '^2'), /with "\^2", and here it has no version\./);
  assert.match(
    await installing('host.kanban', 'supported'),
    /needs host\.kanban, which this host does not offer\./,
  );
});
