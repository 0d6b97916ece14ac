import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { integrityOf } from '@gantry/packs';
import { publicValidator, skipWithoutPublicData } from '../../../protocol/src/testing/public-schemas.ts';
import { acmeRegistry } from '../testing/acme.ts';

const PACK = '/v1/packs/vendor.acme.tools';

test('both addresses of the metadata give the same bytes, with every version', async (t) => {
  const acme = await acmeRegistry(t);
  await acme.publish();
  await acme.publish({ manifest: { version: '1.10.0' } });
  await acme.publish({ manifest: { version: '1.9.0' } });
  await acme.publish({ manifest: { version: '2.0.0-beta.1' } });
  const [bare, indexed] = await Promise.all([
    acme.request({ url: PACK }, ''),
    acme.request({ url: `${PACK}/index.json` }, ''),
  ]);
  assert.equal(bare.statusCode, 200);
  assert.deepEqual(bare.rawPayload, indexed.rawPayload);
  assert.equal(bare.headers['access-control-allow-origin'], '*');
  const metadata = bare.json();
  assert.deepEqual(Object.keys(metadata.versions), ['2.0.0-beta.1', '1.10.0', '1.9.0', '1.0.0']);
  assert.equal(metadata['dist-tags'].latest, '1.10.0');
  assert.equal(metadata.latest, '1.10.0');
  assert.deepEqual(metadata.typeIds, ['vendor.acme.tools.echo']);
  const version = metadata.versions['1.0.0'];
  assert.equal(version.tarballUrl, `https://packs.example.org${PACK}/-/1.0.0.tgz`);
  assert.equal(version.tarballSha256, version.integrity);
  assert.equal(version.signed, true);
  assert.equal(version.signingMethod, 'manual');
  assert.equal(version.verification, 'verified');

  const unchanged = await acme.request({
    url: PACK,
    headers: { 'if-none-match': String(bare.headers.etag) },
  });
  assert.equal(unchanged.statusCode, 304);
});

test('an archive is streamed with its length and hash, and never changes', async (t) => {
  const acme = await acmeRegistry(t);
  await acme.publish();
  const url = `${PACK}/-/1.0.0.tgz`;
  const archive = await acme.request({ url }, '');
  const integrity = integrityOf(archive.rawPayload);
  assert.equal(archive.headers['content-type'], 'application/tar+gzip');
  assert.equal(archive.headers['content-length'], String(archive.rawPayload.length));
  assert.equal(archive.headers.etag, `"${integrity}"`);
  assert.match(String(archive.headers['cache-control']), /immutable/);
  assert.equal(archive.headers['access-control-allow-origin'], '*');

  const head = await acme.request({ method: 'HEAD', url }, '');
  assert.equal(head.statusCode, 200);
  assert.equal(head.headers['content-length'], archive.headers['content-length']);
  assert.equal(head.rawPayload.length, 0);
  for (const method of ['GET', 'HEAD'] as const) {
    const known = await acme.request({ method, url, headers: { 'if-none-match': `"${integrity}"` } });
    assert.equal(known.statusCode, 304, method);
    assert.equal(known.rawPayload.length, 0);
  }
});

const skip = skipWithoutPublicData;

test('the manifest of a version fits the public schema, in every state', { skip }, async (t) => {
  const acme = await acmeRegistry(t);
  const problems = publicValidator('registry-version-manifest.schema.json');
  await acme.publish();
  const read = async () => (await acme.request({ url: `${PACK}/-/1.0.0.json` }, '')).json();
  const check = async (): Promise<void> => assert.deepEqual(problems?.(await read()), []);
  await check();
  assert.equal((await read()).signatureUrl, `${PACK}/-/1.0.0.sig`);
  const post = (verb: string, payload: object) =>
    acme.request({ method: 'POST', url: `${PACK}/-/1.0.0/${verb}`, payload }, acme.apiKey);
  await post('deprecate', { reason: 'Old.', supersededBy: 'vendor.acme.tools@2.0.0' });
  await post('yank', { reason: 'Leaks.', advisoryUrl: 'https://acme.example/advisory' });
  await check();
  const { yanked, yankedReason, deprecated, supersededBy, signatureUrl } = await read();
  assert.deepEqual(
    { yanked, yankedReason, deprecated },
    { yanked: true, yankedReason: 'Leaks.', deprecated: true },
  );
  assert.equal(supersededBy, 'vendor.acme.tools@2.0.0');
  assert.equal(signatureUrl, undefined);
});

describe('what is not there', () => {
  test('is told apart from what cannot be', async (t) => {
    const acme = await acmeRegistry(t);
    const code = async (url: string) => (await acme.request({ url }, '')).json().error;
    assert.equal(await code(PACK), 'not_found');
    assert.equal(await code(`${PACK}/-/1.0.0.tgz`), 'not_found');
    assert.equal(await code(`${PACK}/-/1.0.0.json`), 'not_found');
    assert.equal(await code(`${PACK}/-/1.0.0.sig`), 'signature_not_available');
    assert.equal(await code('/v1/packs/nonsense/-/1.0.0.sig'), 'invalid_pack_name');
    assert.equal(await code(`${PACK}/-/latest.sig`), 'invalid_version');
    assert.equal(await code(`${PACK}/-/latest.tgz`), 'invalid_version');
    assert.equal(await code('/v1/packs/..%2f..%2fsecret'), 'invalid_pack_name');
  });

  test('an archive that the storage lost is an outage, not an empty file', async (t) => {
    const acme = await acmeRegistry(t);
    await acme.publish();
    await rm(`${acme.dataDir}/packs/archives`, { recursive: true });
    const lost = await acme.request({ url: `${PACK}/-/1.0.0.tgz` });
    assert.equal(lost.statusCode, 503);
    assert.equal(lost.json().error, 'storage_unavailable');
  });
});

test('the signature is the one of the archive, until the version is yanked', async (t) => {
  const acme = await acmeRegistry(t);
  await acme.publish();
  const url = `${PACK}/-/1.0.0.sig`;
  const signature = await acme.request({ url }, '');
  assert.equal(signature.rawPayload.length, 64);
  const yank = { method: 'POST', url: `${PACK}/-/1.0.0/yank`, payload: { reason: 'Leaks.' } } as const;
  assert.equal((await acme.request(yank, acme.apiKey)).statusCode, 200);
  assert.equal((await acme.request({ url }, '')).json().error, 'signature_not_available');
  assert.equal((await acme.request({ url: `${PACK}/-/1.0.0.tgz` }, '')).statusCode, 200);
});

test('a version whose name ends like a file, and the bill of materials beside the manifest', async (t) => {
  const acme = await acmeRegistry(t);
  const version = '1.0.0-beta.json';
  await acme.publish({ manifest: { version } });
  assert.equal((await acme.request({ url: `${PACK}/-/${version}.json` })).json().version, version);
  assert.equal((await acme.request({ url: `${PACK}/-/${version}.tgz` })).statusCode, 200);
  const bill = await acme.request({ url: `${PACK}/-/${version}.sbom.json` });
  assert.equal(bill.json().bomFormat, 'CycloneDX', bill.body);
});
