import assert from 'node:assert/strict';
import { createPublicKey } from 'node:crypto';
import { describe, test } from 'node:test';
import { type KeyPair, keyPair } from '../testing/signed-pack.ts';
import { readAdvisories } from './advisory.ts';
import {
  judgeKeychain,
  type KeychainKey,
  keyIdOf,
  permits,
  readPublicKey,
  signEd25519,
  verifyEd25519,
} from './keys.ts';

const first = keyPair();
const second = keyPair();
const third = keyPair();

const spki = (keys: KeyPair): string =>
  createPublicKey(keys.publicKey).export({ type: 'spki', format: 'der' }).toString('base64');

function rotated(kid: string, keys: KeyPair, from?: { kid: string; keys: KeyPair }): KeychainKey {
  const key = { kid, algorithm: 'ed25519', publicKey: spki(keys), validFrom: `2026-0${kid}-01T00:00:00Z` };
  if (from === undefined) return key;
  const message = Buffer.from(`${key.kid}${key.publicKey}${key.validFrom}`);
  const rotationProof = signEd25519(from.keys.privateKey, message).toString('base64');
  return { ...key, rotatedFrom: from.kid, rotationProof };
}

const root = rotated('1', first);
const next = rotated('2', second, { kid: '1', keys: first });
const last = rotated('3', third, { kid: '2', keys: second });
const judge = (keys: readonly KeychainKey[]) => judgeKeychain(keys, ({ kid }) => kid === '1');

describe('keychains', () => {
  test('each key is proved by the one before it, in any order of the list', () => {
    assert.deepEqual(judge([last, root, next]), { valid: true, keys: [root, next, last] });
  });

  for (const [name, keys, kid] of [
    ['a root that nobody vouches for', [{ ...root, kid: '9' }], '9'],
    ['a key without its predecessor', [root, last], '3'],
    ['a key without proof', [root, { ...rotated('2', second), rotatedFrom: '1' }], '2'],
    ['a proof by the new key itself', [root, rotated('2', second, { kid: '1', keys: second })], '2'],
    ['a proof of another start', [root, { ...next, validFrom: '2026-02-02T00:00:00Z' }], '2'],
    ['a proof of another key', [root, { ...next, publicKey: spki(third) }], '2'],
    ['a key that comes twice', [root, next, next], '2'],
    ['no key at all', [{ ...root, publicKey: 'AAAA' }], '1'],
    ['no time', [{ ...root, validFrom: 'soon' }], '1'],
  ] as const)
    test(`refused: ${name}`, () => {
      const judgement = judge(keys);
      assert.ok(!judgement.valid);
      assert.equal(judgement.kid, kid);
    });
});

describe('keys and signatures', () => {
  test('only Ed25519 public keys are read, as PEM or bare', () => {
    assert.ok(readPublicKey(first.publicKey));
    assert.ok(readPublicKey(spki(first)));
    assert.equal(readPublicKey(first.privateKey), undefined);
    assert.equal(readPublicKey('x'.repeat(10_000)), undefined);
    assert.equal(readPublicKey(''), undefined);
  });

  test('a signature is 64 bytes', () => {
    const key = readPublicKey(first.publicKey) ?? assert.fail();
    const message = Buffer.from('m');
    const signature = signEd25519(first.privateKey, message);
    assert.ok(verifyEd25519(key, message, signature));
    assert.ok(!verifyEd25519(key, message, Buffer.concat([signature, Buffer.alloc(1)])));
    assert.ok(!verifyEd25519(key, message, new Uint8Array()));
  });

  test('a reference names one key, as a path or as an id', () => {
    assert.equal(keyIdOf('keys/2026-04.pem'), '2026-04');
    assert.equal(keyIdOf('2026-04'), '2026-04');
  });

  test('a namespace ends at a dot', () => {
    assert.ok(permits(['core.openwop.*'], 'core.openwop.http'));
    assert.ok(!permits(['core.openwop.*'], 'core.openwopx.http'));
    assert.ok(!permits(['core.openwop.*'], 'core.openwop'));
    assert.ok(!permits([], 'core.openwop.http'));
  });
});

test('an unreadable advisory is counted, not lost', () => {
  const good = {
    id: 'OPENWOP-2026-0001',
    publishedAt: '2026-05-12',
    severity: 'low',
    summary: 'x',
    affected: [{ packName: 'a.b', versions: '*' }],
    novelty: true,
  };
  const feed = readAdvisories({ advisories: [good, { id: 'broken' }] });
  assert.equal(feed.advisories.length, 1);
  assert.equal(feed.unreadable, 1);
  assert.equal(readAdvisories('nothing').unreadable, 1);
});
