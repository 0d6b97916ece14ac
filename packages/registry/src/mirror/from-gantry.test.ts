/** One registry of ours copied to another, over HTTP. */
import assert from 'node:assert/strict';
import { createPublicKey, sign } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { createEgress, LOOPBACK_POLICY } from '@gantry/egress';
import { archiveOf, type CopyableRegistry, openHttpRegistry } from '@gantry/packs';
import { type Acme, acmeRegistry } from '../testing/acme.ts';
import { emptyMirror } from '../testing/mirror.ts';
import { type KeyPair, keyPair, nodeManifest } from '../testing/packs.ts';
import { publish, temporaryFolder } from '../testing/test-registry.ts';

const NAME = 'vendor.acme.tools';

async function served(acme: Acme): Promise<CopyableRegistry> {
  const url = await acme.server.app.listen({ host: '127.0.0.1', port: 0 });
  return openHttpRegistry({ url, egress: createEgress({ policy: LOOPBACK_POLICY }) });
}

const act = async (acme: Acme, path: string, payload: object): Promise<void> => {
  const answer = await acme.request(
    { method: 'POST', url: `/v1/packs/${NAME}/-/${path}`, payload },
    acme.apiKey,
  );
  assert.equal(answer.statusCode, 200, answer.body);
};

async function rotate(acme: Acme, next: KeyPair): Promise<void> {
  const publicKey = createPublicKey(next.publicKey)
    .export({ type: 'spki', format: 'der' })
    .toString('base64');
  const validFrom = '2026-01-01T00:00:00Z';
  const rotationProof = sign(
    null,
    Buffer.from(`acme-2${publicKey}${validFrom}`),
    acme.keys.privateKey,
  ).toString('base64');
  await act(acme, 'keychain/rotate', {
    kid: 'acme-2',
    algorithm: 'ed25519',
    publicKey,
    validFrom,
    rotationProof,
  });
}

/** Signed over the whole archive, so that the signature lies beside it alone. */
async function publishDetached(acme: Acme, version: string): Promise<void> {
  const signing = { method: 'ed25519', keyId: 'acme-1' };
  const manifest = nodeManifest({ version, signing });
  const { bytes } = await archiveOf(
    new Map([
      ['pack.json', Buffer.from(JSON.stringify(manifest))],
      ['index.mjs', Buffer.from('export const nodes = {};')],
      ['schemas/echo.input.json', Buffer.from('{}')],
    ]),
  );
  const headers = { 'x-pack-signature': sign(null, bytes, acme.keys.privateKey).toString('base64') };
  const answer = await publish(acme, { version, bytes, key: acme.apiKey, headers });
  assert.equal(answer.statusCode, 201, answer.body);
}

async function busyRegistry(t: TestContext): Promise<Acme> {
  const acme = await acmeRegistry(t);
  await acme.publish();
  await publishDetached(acme, '1.0.1');
  await act(acme, '1.0.0/yank', { reason: 'It burns.', advisoryUrl: 'https://example.org/1' });
  await act(acme, '1.0.1/yank', { reason: 'It freezes.' });
  const next = keyPair();
  await rotate(acme, next);
  const signedWith = { keyId: 'acme-2', privateKey: next.privateKey };
  assert.equal((await acme.publish({ manifest: { version: '1.1.0' }, signedWith })).statusCode, 201);
  await act(acme, '1.1.0/deprecate', { reason: 'Old.', supersededBy: 'vendor.acme.more' });
  return acme;
}

test('keychains with their proofs, times, yanks and deprecations come along', async (t) => {
  const acme = await busyRegistry(t);
  const source = await served(acme);
  const mirror = await emptyMirror(t);
  const summary = await mirror.copy(source);
  assert.deepEqual(summary.refused, []);
  // Nobody gets the signature of a withdrawn version, and this one is not in the archive either.
  assert.deepEqual(
    summary.leftOut.map(({ what }) => what),
    [`${NAME}@1.0.1`],
  );
  assert.deepEqual([summary.copied, summary.keychains, summary.keys], [2, 1, 2]);

  const keychain = `/v1/packs/${NAME}/-/keychain`;
  assert.deepEqual(await mirror.read(keychain), (await acme.request({ url: keychain }, '')).json());
  const original = await acme.server.registry.catalogue.versions(NAME);
  for (const version of await mirror.server.registry.catalogue.versions(NAME)) {
    const before = original.find((one) => one.version === version.version);
    assert.equal(version.provenance.publishedAt, before?.provenance.publishedAt);
    assert.equal(version.provenance.mirroredFrom, source.url);
    assert.equal(version.yank?.yankedAt, before?.yank?.yankedAt);
    assert.equal(version.yank?.advisoryUrl, before?.yank?.advisoryUrl);
    assert.equal(version.deprecation?.deprecatedAt, before?.deprecation?.deprecatedAt);
    assert.equal(version.signing.state, 'verified');
  }
});

test('a copy of a copy is as good', async (t) => {
  const first = await emptyMirror(t);
  await first.copy(await served(await busyRegistry(t)));
  const url = await first.server.app.listen({ host: '127.0.0.1', port: 0 });
  const second = await emptyMirror(t);
  const summary = await second.copy(
    openHttpRegistry({ url, egress: createEgress({ policy: LOOPBACK_POLICY }) }),
  );
  assert.deepEqual([summary.copied, summary.refused, summary.keychains], [2, [], 1]);
});

test('copied keys and packs are there after a restart', async (t) => {
  const source = await served(await busyRegistry(t));
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const before = await emptyMirror(t, { dataDir: folder.path });
  await before.copy(source);
  await before.server.stop();
  const after = await emptyMirror(t, { dataDir: folder.path });
  assert.equal((await after.request({ url: '/keys/acme-2.pub' }, '')).statusCode, 200);
  assert.equal((await after.copy(source)).there, 2);
});
