import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { test } from 'node:test';
import { ARCHIVE_LIMITS, archiveOf, integrityOf } from '@gantry/packs';
import { acmeRegistry, claim } from '../testing/acme.ts';
import { madePack, nodeManifest } from '../testing/packs.ts';
import { apiKey, publish } from '../testing/test-registry.ts';

test('a signed version is created once; the same bytes again are fine, other bytes are not', async (t) => {
  const acme = await acmeRegistry(t);
  const first = await acme.publish();
  assert.equal(first.statusCode, 201, first.body);
  const { integrity, tarballUrl, publishedAt } = first.json();
  assert.match(integrity, /^sha256-/);
  assert.equal(tarballUrl, '/v1/packs/vendor.acme.tools/-/1.0.0.tgz');

  const again = await acme.publish();
  assert.equal(again.statusCode, 200);
  assert.equal(again.json().publishedAt, publishedAt);

  const other = await acme.publish({ files: { 'README.md': 'Other.' } });
  assert.equal(other.statusCode, 409);
  assert.equal(other.json().error, 'conflict');
  assert.equal(
    (await acme.server.registry.catalogue.version('vendor.acme.tools', '1.0.0'))?.integrity,
    integrity,
  );
  assert.equal((await acme.stored()).length, 1, 'what lost is not kept');
});

test('a version may be sent to its own address, as examples of the protocol do', async (t) => {
  const acme = await acmeRegistry(t);
  const pack = { signedWith: { keyId: 'acme-1', privateKey: acme.keys.privateKey } };
  const sent = await acme.request(
    {
      method: 'PUT',
      url: '/v1/packs/vendor.acme.tools/-/1.0.0',
      payload: Buffer.from(await madePack(pack)),
      headers: { 'content-type': 'application/gzip' },
    },
    acme.apiKey,
  );
  assert.equal(sent.statusCode, 201, sent.body);
  assert.equal((await acme.publish()).statusCode, 200);
});

test('a retry brings back an archive that the storage lost', async (t) => {
  const acme = await acmeRegistry(t);
  await acme.publish();
  const [archive] = await acme.stored();
  await rm(`${acme.dataDir}/packs/archives/${archive}`);
  assert.equal((await acme.publish()).statusCode, 200);
  assert.deepEqual(await acme.stored(), [archive]);
});

test('of many publishes of the same bytes at once, one creates', async (t) => {
  const acme = await acmeRegistry(t);
  const answers = await Promise.all(Array.from({ length: 8 }, () => acme.publish()));
  const statuses = answers.map(({ statusCode }) => statusCode).sort();
  assert.deepEqual(statuses, [200, 200, 200, 200, 200, 200, 200, 201]);
});

test('of two publishes of other bytes at once, one conflicts', async (t) => {
  const acme = await acmeRegistry(t);
  const answers = await Promise.all([acme.publish(), acme.publish({ files: { 'README.md': 'Other.' } })]);
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [201, 409]);
});

test('provenance says who published with what, and never holds the key', async (t) => {
  const acme = await acmeRegistry(t);
  const headers = { 'user-agent': 'gantry/0.1', 'x-pack-build': '{"ci":"build 7"}' };
  await acme.publish({}, { headers });
  const version = await acme.server.registry.catalogue.version('vendor.acme.tools', '1.0.0');
  assert.equal(version?.provenance.publishedBy.name, 'acme publisher');
  assert.deepEqual(version?.provenance.build, { ci: 'build 7' });
  assert.equal(version?.provenance.userAgent, 'gantry/0.1');
  assert.ok(!JSON.stringify(version).includes(acme.apiKey));
  const bad = await acme.publish({ manifest: { version: '1.0.1' } }, { headers: { 'x-pack-build': '[1]' } });
  assert.equal(bad.json().error, 'validation_error');
});

test('the two namespaces never see each other', async (t) => {
  const acme = await acmeRegistry(t);
  const url = (namespace: string): string => `/v1/${namespace}/vendor.acme.tools/-/1.0.0.tgz`;
  assert.equal((await acme.publish({}, { namespace: 'packs-test' })).statusCode, 201);
  assert.equal((await acme.request({ url: url('packs') })).statusCode, 404);
  assert.equal((await acme.request({ url: url('packs-test') })).statusCode, 200);
  for (const listing of ['/v1/packs', '/v1/index.json', '/v1/packs/-/search?q=acme'])
    assert.ok(!(await acme.request({ url: listing })).body.includes('vendor.acme.tools'), listing);

  // Other bytes under the same name, in production.
  const other = await acme.publish({ files: { 'README.md': 'Other.' } });
  assert.equal(other.statusCode, 201);
  const reset = await acme.request({ method: 'POST', url: '/v1/packs-test/-/reset' });
  assert.equal(reset.statusCode, 200);
  assert.equal((await acme.request({ url: url('packs-test') })).statusCode, 404);
  assert.equal((await acme.request({ url: url('packs') })).statusCode, 200);
  assert.equal((await acme.publish({}, { namespace: 'packs-test' })).statusCode, 201);
});

test('without test seams there is no test namespace', async (t) => {
  const acme = await acmeRegistry(t, { settings: { testSeams: false } });
  assert.equal((await acme.publish({}, { namespace: 'packs-test' })).statusCode, 404);
  assert.equal((await acme.request({ method: 'POST', url: '/v1/packs-test/-/reset' })).statusCode, 404);
  assert.equal(acme.server.registry.testCatalogue, undefined);
});

test('a test key publishes to the test namespace only', async (t) => {
  const acme = await acmeRegistry(t);
  const key = await apiKey(acme, 'acme', ['packs:publish'], { test: true });
  assert.equal((await acme.publish({}, { key })).json().error, 'forbidden');
  assert.equal((await acme.publish({}, { key, namespace: 'packs-test' })).statusCode, 201);
});

test('unsigned packs need a setting, are flagged, and never get under a namespace with a key', async (t) => {
  const acme = await acmeRegistry(t, { settings: { acceptsUnsigned: true } });
  const manifest = { name: 'community.acme-fans.notes' };
  const key = await apiKey(acme, 'fans');
  assert.equal((await claim(acme, { namespace: manifest.name }, key)).statusCode, 201);
  const bytes = await madePack({ manifest });
  assert.equal((await publish(acme, { ...manifest, bytes, key })).statusCode, 201);
  const metadata = (await acme.request({ url: `/v1/packs/${manifest.name}` })).json();
  assert.equal(metadata.versions['1.0.0'].signed, false);
  assert.equal(metadata.versions['1.0.0'].verification, 'unsigned');
  const unsigned = await publish(acme, { bytes: await madePack(), key: acme.apiKey });
  assert.equal(unsigned.json().error, 'signature_required');
});

test('a signature over the archive itself travels beside it', async (t) => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const acme = await acmeRegistry(t);
  const key = await apiKey(acme, 'initech');
  const spki = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
  const signingKey = { keyId: 'initech-1', publicKey: spki, validFrom: '2020-01-01T00:00:00Z' };
  await claim(acme, { namespace: 'vendor.initech.*', signingKey }, key);
  const name = 'vendor.initech.tools';
  const signing = { method: 'ed25519', keyId: 'initech-1' };
  const { bytes } = await archiveOf(
    new Map([
      ['pack.json', Buffer.from(JSON.stringify(nodeManifest({ name, signing, nodes: [NODE] })))],
      ['index.mjs', Buffer.from('export const nodes = {};')],
    ]),
  );
  const signature = sign(null, bytes, privateKey);
  const headers = { 'x-pack-signing-method': 'manual', 'x-pack-signature': signature.toString('base64') };
  const without = await publish(acme, { name, bytes, key });
  assert.equal(without.json().error, 'signature_invalid');
  const published = await publish(acme, { name, bytes, key, headers });
  assert.equal(published.statusCode, 201, published.body);
  const served = await acme.request({ url: `/v1/packs/${name}/-/1.0.0.sig` });
  assert.deepEqual(served.rawPayload, signature);
});

const NODE = { typeId: 'vendor.initech.echo', version: '1.0.0', category: 'data', role: 'pure' };

test('limits are those of the registry', async (t) => {
  const acme = await acmeRegistry(t, { limits: { ...ARCHIVE_LIMITS, archiveBytesMax: 100 } });
  const refused = await acme.publish();
  assert.equal(refused.statusCode, 413);
  assert.equal(refused.json().details.maxBytes, 100);
});

test('the hash that the publisher gives is compared', async (t) => {
  const acme = await acmeRegistry(t);
  const signedWith = { keyId: 'acme-1', privateKey: acme.keys.privateKey };
  const headers = { 'x-pack-sha256': integrityOf(await madePack({ signedWith })) };
  assert.equal((await acme.publish({}, { headers })).statusCode, 201);
});
