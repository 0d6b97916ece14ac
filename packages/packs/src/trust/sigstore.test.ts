import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { NOW, question, signedPack } from '../testing/signed-pack.ts';
import { TestSigstore } from '../testing/sigstore.ts';
import { judgeTrust } from './judge-trust.ts';
import { verifySigstore } from './sigstore.ts';
import type { SigstoreTrust } from './trust-file.ts';

const sigstore = new TestSigstore();
const identity = { issuer: 'https://tokens.example', subject: 'https://acme.example/build' };
const signer = { ...identity, permittedNamespaces: ['vendor.acme.*'] };
const trust: SigstoreTrust = { trustedRoot: sigstore.trustedRoot(), signers: [signer] };
const message = Buffer.from('{"name":"vendor.acme.tools"}');
const bundle = sigstore.sign(message, identity);

describe('Sigstore bundles', () => {
  test('a bundle of an expected signer verifies without any network', () => {
    assert.deepEqual(verifySigstore(bundle, message, trust), { verified: true, signer });
  });

  for (const [name, given, over, by] of [
    ['another message', bundle, Buffer.from('{}'), trust],
    [
      'the root of somebody else',
      bundle,
      message,
      { ...trust, trustedRoot: new TestSigstore().trustedRoot() },
    ],
    ['no root', bundle, message, { ...trust, trustedRoot: {} }],
    ['a log entry of another signature', withEntryOf(sigstore.sign(message, identity)), message, trust],
    ['no log entry', withoutEntries(), message, trust],
    ['no bundle', {}, message, trust],
    ['nothing', undefined, message, trust],
  ] as const)
    test(`refused: ${name}`, () => {
      const judgement = verifySigstore(given, over, by);
      assert.ok(!judgement.verified);
      assert.equal(judgement.reason, 'invalid');
    });

  test('a signer must be expected as a whole: a part of the name, or another issuer, is nobody', () => {
    for (const expected of [
      { ...signer, subject: 'https://acme.example' },
      { ...signer, issuer: 'https://other.example' },
      { ...signer, subject: '.*' },
    ]) {
      const judgement = verifySigstore(bundle, message, { ...trust, signers: [expected] });
      assert.ok(!judgement.verified);
      assert.equal(judgement.reason, 'untrusted');
    }
  });

  test('a bundle with any one changed character never verifies as something else', () => {
    const text = JSON.stringify(bundle);
    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.constantFrom('A', '0', '"', '}'), (at, sign) => {
        const spoilt = parse(text.slice(0, at) + sign + text.slice(at + 1));
        const judgement = verifySigstore(spoilt, message, trust);
        if (judgement.verified) assert.deepEqual(judgement.signer, signer);
      }),
      { numRuns: 100 },
    );
  });
});

describe('packs signed with Sigstore', async () => {
  const plain = await signedPack({ method: 'none' });
  const pack = (files: ReadonlyMap<string, Uint8Array>) => ({
    ...plain,
    files,
    signing: { method: 'sigstore' as const },
  });
  const signed = new Map(plain.files).set(
    'pack.json.sigstore',
    Buffer.from(JSON.stringify(sigstore.sign(plain.manifestBytes, identity))),
  );
  const judge = async (files: ReadonlyMap<string, Uint8Array>, by?: SigstoreTrust) => {
    const judgement = await judgeTrust(
      question(pack(files), { trust: { keys: [], now: NOW, ...(by ? { sigstore: by } : {}) } }),
    );
    return judgement.trusted ? judgement.level : judgement.code;
  };

  test('verify with the configured root, and only with it', async () => {
    assert.equal(await judge(signed, trust), 'sigstore');
    assert.equal(await judge(signed), 'pack_signature_unverifiable');
    assert.equal(await judge(plain.files, trust), 'pack_signature_unverifiable');
    assert.equal(await judge(signed, { ...trust, signers: [] }), 'pack_namespace_unauthorized');
    const elsewhere = { ...signer, permittedNamespaces: ['vendor.other.*'] };
    assert.equal(await judge(signed, { ...trust, signers: [elsewhere] }), 'pack_namespace_unauthorized');
    const other = new Map(signed).set('pack.json.sigstore', Buffer.from(JSON.stringify(bundle)));
    assert.equal(await judge(other, trust), 'pack_signature_invalid');
  });
});

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function withEntryOf(other: object): unknown {
  const [copy, donor] = [structuredClone(bundle), structuredClone(other)];
  const material = Object(Reflect.get(copy, 'verificationMaterial'));
  Reflect.set(
    material,
    'tlogEntries',
    Reflect.get(Object(Reflect.get(donor, 'verificationMaterial')), 'tlogEntries'),
  );
  return copy;
}

function withoutEntries(): unknown {
  const copy = structuredClone(bundle);
  Reflect.set(Object(Reflect.get(copy, 'verificationMaterial')), 'tlogEntries', []);
  return copy;
}
