import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { failsWith } from '../testing/locks.ts';
import { acmeKey, acmeKeys, type KeyPair, keyPair } from '../testing/signed-pack.ts';
import type { KeychainKey, TrustedKey } from '../trust/keys.ts';
import { readPublicKey, signEd25519 } from '../trust/keys.ts';
import { type KeyVouching, trustedKeys } from './registry-keys.ts';

const NAME = 'vendor.acme.tools';
const next = keyPair();
const spki = ({ publicKey }: KeyPair): string =>
  readPublicKey(publicKey)?.export({ type: 'spki', format: 'der' }).toString('base64') ?? assert.fail();

const first: KeychainKey = {
  kid: 'acme-1',
  algorithm: 'ed25519',
  publicKey: spki(acmeKeys),
  validFrom: '2026-01-01T00:00:00Z',
  validUntil: '2026-06-01T00:00:00Z',
  rotatedTo: 'acme-2',
};
const rotated = (by: KeyPair): KeychainKey => {
  const validFrom = '2026-05-01T00:00:00Z';
  const proof = signEd25519(by.privateKey, Buffer.from(`acme-2${spki(next)}${validFrom}`));
  return {
    kid: 'acme-2',
    algorithm: 'ed25519',
    publicKey: spki(next),
    validFrom,
    rotatedFrom: 'acme-1',
    rotationProof: proof.toString('base64'),
  };
};

const keys = (keychain: readonly KeychainKey[], more: Partial<KeyVouching> = {}): TrustedKey[] =>
  trustedKeys(NAME, {
    listed: [acmeKey],
    keychain: { namespace: 'vendor.acme', keys: keychain },
    registryUrl: 'https://packs.example',
    ...more,
  });
const unbelieved = (...args: Parameters<typeof keys>): ReturnType<typeof failsWith> =>
  failsWith(() => keys(...args), 'pack_signature_unverifiable');

describe('keys that may speak for a pack', () => {
  test('those that discovery lists, with the window that the keychain gives them', () => {
    assert.deepEqual(keys([first]), [
      { ...acmeKey, publicKey: spki(acmeKeys), validFrom: first.validFrom, validUntil: first.validUntil },
    ]);
  });

  test('a key that follows with its proof has the namespaces of the one before', () => {
    const found = keys([first, rotated(acmeKeys)]).find(({ keyId }) => keyId === 'acme-2');
    assert.deepEqual(found?.permittedNamespaces, ['vendor.acme.*']);
  });

  test('a key that follows without the proof spoils the keychain', async () => {
    const error = await unbelieved([first, rotated(keyPair())]);
    assert.match(error.message, /acme-2 is not signed by the key that it follows/);
  });

  test('a key that takes the name of a listed one is not believed', async () => {
    await unbelieved([{ ...first, publicKey: spki(next) }]);
  });

  test('the first key of a namespace counts on the word of the registry, for that namespace', () => {
    const [found] = keys([first], { listed: [] });
    assert.deepEqual(found?.permittedNamespaces, ['vendor.acme', 'vendor.acme.*']);
  });

  test('with keys of the operator the word of the registry counts no more', async () => {
    const roots = [{ ...acmeKey, keyId: 'mine', publicKey: next.publicKey }];
    await unbelieved([first], { roots });
    assert.deepEqual(trustedKeys(NAME, { listed: [acmeKey], roots, registryUrl: '' }), roots);
    assert.equal(keys([first, rotated(acmeKeys)], { listed: [], roots: [acmeKey] }).length, 2);
  });

  test('the keychain of another namespace is none', async () => {
    await unbelieved([first], { keychain: { namespace: 'vendor.other', keys: [first] } });
  });
});
