/** `--trust FILE`, with a Sigstore root; and packs whose manifest cannot name its signature. */
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { archiveOf, FILE_LIST, readArchive, withFileList } from '@gantry/packs';
import { packArchive } from '../../../../host/src/packs/testing/pack-archive.ts';
import { registryFolder } from '../../../../host/src/packs/testing/registry-folder.ts';
import { TestSigstore } from '../../../../packs/src/testing/sigstore.ts';
import { realHost } from '../../testing/real-host.ts';
import { packIn, temporaryFolder } from './testing/pack-folder.ts';
import { workspace } from './testing/workspace.ts';

const NAME = 'vendor.acme.tools';
const identity = { issuer: 'https://tokens.example', subject: 'https://acme.example/build' };
const json = (value: unknown) => Buffer.from(JSON.stringify(value));

/** Signed through Sigstore: the manifest, and the list of files. */
async function bundled(by: TestSigstore) {
  const { bytes } = await packArchive({
    name: NAME,
    nodes: { [`${NAME}.work`]: { body: 'return {};' } },
    manifest: { signing: { method: 'sigstore' } },
  });
  const { files, manifestBytes } = await readArchive(bytes);
  const signed = new Map([...files, ['pack.json.sigstore', json(by.sign(manifestBytes, identity))] as const]);
  const listed = withFileList(signed, { name: NAME, version: '1.0.0' });
  const list = Buffer.from(listed.get(FILE_LIST) ?? '');
  return archiveOf(listed.set('files.json.sigstore', json(by.sign(list, identity))));
}

test('Sigstore bundles are verified with the root of the trust file, by the command and by the host', async (t) => {
  const sigstore = new TestSigstore();
  const registry = await registryFolder(t);
  const archive = await bundled(sigstore);
  await registry.publishArchive(archive);
  const root = await temporaryFolder(t);
  await writeFile(path.join(root, 'tools.tgz'), archive.bytes);
  const trusting = async (name: string, sigstore: TestSigstore, permittedNamespaces: readonly string[]) => {
    const signers = [{ ...identity, permittedNamespaces }];
    const content = {
      policy: { mode: 'verified' },
      sigstore: { trustedRoot: sigstore.trustedRoot(), signers },
    };
    await writeFile(path.join(root, name), JSON.stringify(content));
    return packIn(root, 'verify', 'tools.tgz', '--trust', name);
  };
  const without = await packIn(root, 'verify', 'tools.tgz');
  assert.equal(without.code, 1);
  assert.match(without.out, /no Sigstore root and identities configured/);
  const forged = await trusting('other-root.json', new TestSigstore(), ['vendor.acme.*']);
  assert.equal(forged.code, 1, forged.out);
  const elsewhere = await trusting('other-names.json', sigstore, ['vendor.other.*']);
  assert.equal(elsewhere.code, 1, elsewhere.out);
  const missing = await packIn(root, 'verify', 'tools.tgz', '--trust', 'absent.json');
  assert.match(missing.err, /--trust: /);
  const right = await trusting('trust.json', sigstore, ['vendor.acme.*']);
  assert.equal(right.code, 0, right.err);

  const installing = async (trustFile?: string) => {
    const settings = { registries: [registry.path], ...(trustFile && { trustFile }) };
    const { client } = await realHost(t, [], { settings });
    const { pack } = await workspace(t, { GANTRY_URL: client.baseUrl });
    return pack('install', NAME);
  };
  const refused = await installing();
  assert.equal(refused.code, 2);
  assert.match(refused.err, /no Sigstore root and identities configured/);
  const trusted = await installing(path.join(root, 'trust.json'));
  assert.equal(trusted.code, 0, trusted.err);
  assert.match(trusted.err, /sigstore by https:\/\/acme\.example\/build/);
});

test('a front-end plugin is signed beside its manifest, which stays as it is', async (t) => {
  const root = await temporaryFolder(t);
  const plugin = { pluginId: 'viewer', surface: 'route', entry: 'index.js', hostApi: [] };
  const identity = { name: 'vendor.acme.viewer', version: '1.0.0', engines: { openwop: '>=1.0.0 <2.0.0' } };
  const manifest = JSON.stringify({ ...identity, kind: 'frontend-plugin', uiPlugins: [plugin] });
  await mkdir(path.join(root, 'viewer'));
  await writeFile(path.join(root, 'viewer/pack.json'), manifest);
  await writeFile(path.join(root, 'viewer/index.js'), 'export {};');
  await packIn(root, 'keygen', 'acme');
  const signed = await packIn(root, 'sign', 'viewer', '--signing-key', 'acme.pem', '--out', 'signed.tgz');
  assert.equal(signed.code, 0, signed.err);
  const verified = await packIn(root, 'verify', 'signed.tgz', '--keys', 'acme.pub');
  assert.equal(verified.code, 0, verified.out);
  assert.match(verified.out, /signature {2}is right, by acme/);
  const { files } = await readArchive(await readFile(path.join(root, 'signed.tgz')));
  assert.equal(String(files.get('pack.json')), manifest);
  for (const [file, content] of [
    ['index.js', 'export const stolen = true;'],
    ['pack.json', manifest.replace('viewer"', 'reader"')],
    ['keys/pack.json.sig', 'x'.repeat(64)],
    ['files.json.sig', 'x'.repeat(64)],
  ] as const) {
    const { bytes } = await archiveOf(new Map([...files, [file, Buffer.from(content)]]));
    await writeFile(path.join(root, 'forged.tgz'), bytes);
    const { code, out } = await packIn(root, 'verify', 'forged.tgz', '--keys', 'acme.pub');
    assert.deepEqual([file, code], [file, 1], out);
  }
});
