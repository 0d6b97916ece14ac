import assert from 'node:assert/strict';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { archiveOf, readArchive } from '@gantry/packs';
import {
  type RegistryProcess,
  startRegistryProcess,
} from '../../../../registry/src/testing/registry-process.ts';
import { ADMIN_KEY, temporaryFolder } from '../../../../registry/src/testing/test-registry.ts';
import { realHost } from '../../testing/real-host.ts';
import { edit, packIn } from './testing/pack-folder.ts';
import { type Workspace, workspace } from './testing/workspace.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let registry: RegistryProcess;

before(async () => {
  folder = await temporaryFolder();
  registry = await startRegistryProcess(folder.path);
});
after(async () => {
  await registry.stop();
  await folder.remove();
});

const env = () => ({ GANTRY_REGISTRY_URL: registry.url, GANTRY_REGISTRY_KEY: ADMIN_KEY });

async function asAdmin(address: string, body: object): Promise<void> {
  const response = await fetch(registry.url + address, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  assert.ok(response.ok, await response.text());
}

/** A scaffold in `pack`, its key `KEY.pem`, and the namespace claimed with it. */
async function author({ root }: Workspace, owner: string): Promise<string[]> {
  await packIn(root, 'new', `vendor.${owner}.greeter`, '--out', 'pack');
  await packIn(root, 'keygen', `${owner}-2026`);
  const publicKey = await readFile(path.join(root, `${owner}-2026.pub`), 'utf8');
  const signingKey = { keyId: `${owner}-2026`, publicKey, validFrom: '2020-01-01T00:00:00Z' };
  await asAdmin('/v1/host/gantry/registry/claims', { namespace: `vendor.${owner}.*`, signingKey });
  return ['--signing-key', `${owner}-2026.pem`];
}

const release = ({ root }: Workspace, version: string, requires: readonly string[] = []): Promise<void> =>
  edit(path.join(root, 'pack', 'pack.json'), (text) => {
    const manifest = JSON.parse(text);
    return JSON.stringify({ ...manifest, version, runtime: { ...manifest.runtime, requires } });
  });

test('a pack is shown, published once, and the same again is no harm', async (t) => {
  const here = await workspace(t, env());
  const signed = await author(here, 'acme');
  await release(here, '0.1.0', ['net.outbound']);
  const first = await here.pack('publish', 'pack', ...signed);
  assert.equal(first.code, 0, first.err);
  assert.match(
    first.out,
    /^vendor\.acme\.greeter@0\.1\.0 {2}node, 9 files, [\d.]+ kB, signed with acme-2026$/m,
  );
  assert.match(first.out, /^ {2}index\.mjs +\d+ B$/m);
  assert.match(first.out, /^ {2}net\.outbound {2}Send requests/m);
  assert.match(
    first.out,
    /Published\. Install it: gantry pack install vendor\.acme\.greeter@0\.1\.0 --registry/,
  );
  const again = await here.pack('publish', 'pack', ...signed);
  assert.equal(again.code, 0);
  assert.match(again.out, /published before with exactly these bytes/);
  const served = await fetch(`${registry.url}/v1/packs/vendor.acme.greeter/-/0.1.0.json`);
  const { integrity } = JSON.parse(await served.text());
  assert.ok(first.out.includes(`\n${integrity}\n`), 'what is shown is what is served');
});

test('an archive is published as it is', async (t) => {
  const here = await workspace(t, env());
  const signed = await author(here, 'archivist');
  const made = JSON.parse((await here.pack('sign', 'pack', ...signed, '--out', 'greeter.tgz', '--json')).out);
  const { code, out, err } = await here.pack('publish', 'greeter.tgz', '--json');
  assert.equal(code, 0, err);
  const { outcome, integrity, files } = JSON.parse(out);
  assert.deepEqual([outcome, integrity], ['created', made.integrity]);
  assert.ok(files.includes('keys/pack.json.sig'));
});

test('every refusal says what to do', async (t) => {
  const here = await workspace(t, env());
  const signed = await author(here, 'refused');
  const refusal = async (...args: string[]) => {
    const { code, err } = await here.pack('publish', 'pack', ...args);
    assert.equal(code, 2);
    return err;
  };
  assert.match(await refusal(), /\(signature_required\).*\nSign it: add --signing-key FILE/);
  assert.match(
    await refusal('--key', 'gk_wrong', ...signed),
    /\(unauthenticated\).*\nSet GANTRY_REGISTRY_KEY/,
  );
  await here.pack('keygen', 'other-2026');
  assert.match(
    await refusal('--signing-key', 'other-2026.pem'),
    /\(signature_invalid\).*\nSign with the key/,
  );
  await here.pack('publish', 'pack', ...signed);
  await edit(path.join(here.root, 'pack', 'README.md'), (text) => `${text}\nMore.\n`);
  assert.match(await refusal(...signed), /\(conflict\).*\nA version is published once\. Raise "version"/);
  assert.match(await refusal('--registry', 'http://127.0.0.1:9'), /Cannot reach the registry/);
  assert.match(await refusal('--registry', '.'), /needs the address of a running registry/);
  assert.match(await refusal('--registry', 'http://packs.acme.example'), /plain http/);
});

test('what check finds is found before anything is sent; nothing is sent without address and key', async (t) => {
  const here = await workspace(t, env());
  await author(here, 'faulty');
  const archive = path.join(here.root, 'built.tgz');
  await here.pack('build', 'pack', '--out', archive);
  const { files } = await readArchive(await readFile(archive));
  const broken = new Map([...files, ['index.mjs', Buffer.from('export cnst nodes = {};')]]);
  await writeFile(archive, (await archiveOf(broken)).bytes);
  const unloadable = await here.pack('publish', 'built.tgz');
  assert.equal(unloadable.code, 1);
  assert.match(unloadable.out, /^built\.tgz\/index\.mjs:1:\d+: error: SyntaxError/m);
  await rm(path.join(here.root, 'pack', 'index.mjs'));
  const { code, out } = await here.pack('publish', 'pack');
  assert.equal(code, 1);
  assert.match(out, /index\.mjs: The file is not in the pack/);
  const nowhere = await workspace(t, { GANTRY_REGISTRY_KEY: ADMIN_KEY });
  assert.match((await nowhere.pack('publish', 'pack')).err, /Name the registry/);
  // The key of a host is never sent to a registry.
  const keyless = await workspace(t, { GANTRY_REGISTRY_URL: registry.url });
  assert.match((await keyless.pack('publish', 'pack')).err, /Set GANTRY_REGISTRY_KEY/);
});

test('from an author to a run: publish, lock, install, deprecate, update', async (t) => {
  const { client } = await realHost(t, [], { settings: { registries: [registry.url] } });
  const here = await workspace(t, { ...env(), GANTRY_URL: client.baseUrl });
  const signed = await author(here, 'shop');
  const name = 'vendor.shop.greeter';
  await here.pack('publish', 'pack', ...signed);
  await here.workflow('hello', { [name]: { version: '^0.1.0' } });
  assert.equal((await here.pack('lock')).out, `+ ${name} 0.1.0\npack-lock.json is written: 1 pack.\n`);
  assert.equal((await here.pack('install')).code, 0);

  await release(here, '0.1.1', ['crypto']);
  await here.pack('publish', 'pack', ...signed);
  await asAdmin(`/v1/packs/${name}/-/0.1.0/deprecate`, { reason: 'Old.' });
  const { out } = await here.pack('outdated');
  assert.match(
    out,
    /^vendor\.shop\.greeter +0\.1\.0 +0\.1\.1 +0\.1\.1 +deprecated: Old\.; asks for more: crypto$/m,
  );
  const updated = await here.pack('update', '--yes', '--grant', `${name}=crypto`);
  assert.equal(updated.code, 0, updated.err);
  assert.match(updated.err, /vendor\.shop\.greeter@0\.1\.1 {2}signed by shop-2026/);
  assert.deepEqual(await here.locked(), { [name]: '0.1.1' });
  assert.equal((await client.packs.get(name)).versions[0]?.version, '0.1.1');
});
