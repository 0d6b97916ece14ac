import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { archiveOf, FILE_LIST, withFileList } from '@gantry/packs';
import { TestSigstore } from '../../../packs/src/testing/sigstore.ts';
import { publish, temporaryFolder, testRegistry } from '../testing/test-registry.ts';

const NOW = Date.parse('2026-06-01T00:00:00Z');
const sigstore = new TestSigstore();
const identity = { issuer: 'https://tokens.example', subject: 'https://acme.example/build' };

/** Signed through Sigstore: the manifest, and the list of files too. */
async function bundled(by = sigstore): Promise<Buffer> {
  const manifest = Buffer.from(
    JSON.stringify({
      name: 'vendor.acme.tools',
      version: '1.0.0',
      engines: { openwop: '>=1.0.0' },
      nodes: [{ typeId: 'vendor.acme.tools.a', version: '1.0.0', category: 'data', role: 'side-effect' }],
      runtime: { language: 'javascript', entry: 'index.mjs' },
      signing: { method: 'sigstore' },
    }),
  );
  const code =
    'export const nodes = { "vendor.acme.tools.a": async (c) => c.storage.kv.get({ key: c.config.k }) };';
  const json = (value: unknown) => Buffer.from(JSON.stringify(value));
  const files = new Map([
    ['pack.json', manifest],
    ['index.mjs', Buffer.from(code)],
    ['pack.json.sigstore', json(by.sign(manifest, identity))],
  ]);
  const listed = withFileList(files, { name: 'vendor.acme.tools', version: '1.0.0' });
  const list = Buffer.from(listed.get(FILE_LIST) ?? '');
  return (await archiveOf(listed.set('files.json.sigstore', json(by.sign(list, identity))))).bytes;
}

test('bundles are verified where a root is configured, and advertised only there', async (t) => {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const signers = [{ ...identity, permittedNamespaces: ['vendor.acme.*'] }];
  const trustFile = `${folder.path}/trust.json`;
  const content = {
    policy: { mode: 'verified' },
    sigstore: { trustedRoot: sigstore.trustedRoot(), signers },
  };
  await writeFile(trustFile, JSON.stringify(content));
  const registry = await testRegistry(t, { settings: { trustFile, testSeams: false }, now: () => NOW });
  const methods = async (one: typeof registry) =>
    (await one.request({ url: '/.well-known/openwop-registry' })).json().supportedSigningMethods;
  assert.deepEqual(await methods(registry), ['manual', 'ed25519', 'sigstore']);
  const forged = await publish(registry, { bytes: await bundled(new TestSigstore()) });
  assert.equal(forged.json().error, 'signature_invalid', forged.body);
  const published = await publish(registry, { bytes: await bundled() });
  assert.equal(published.statusCode, 201, published.body);
  const { versions } = (await registry.request({ url: '/v1/packs/vendor.acme.tools' })).json();
  const first = Object.values<Record<string, unknown>>(versions)[0] ?? {};
  assert.deepEqual([first.verification, first.signatureCovers], ['verified', 'files']);
  const page = (await registry.request({ url: '/packs/vendor.acme.tools' })).body;
  assert.match(page, /Sigstore by <code>https:\/\/acme\.example\/build/);
  assert.match(page, /<code>host\.kvStorage<\/code>/);
  assert.doesNotMatch(page, /No platform access/);
  const bare = await testRegistry(t, { settings: { testSeams: false }, now: () => NOW });
  assert.deepEqual(await methods(bare), ['manual', 'ed25519']);
  assert.equal((await publish(bare, { bytes: await bundled() })).json().error, 'signature_invalid');
});
