import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { acmeKey, keyPair, NOW, question, signedPack } from '../testing/signed-pack.ts';
import { judgeTrust, type TrustJudgement, type TrustQuestion } from './judge-trust.ts';
import type { TrustedKey } from './keys.ts';
import type { TrustPolicy } from './policy.ts';

const pack = await signedPack();
const unsigned = await signedPack({ method: 'none' });
const record = { integrity: pack.integrity, publishedAt: '2026-05-01T00:00:00Z' };

const code = (judgement: TrustJudgement): string => (judgement.trusted ? judgement.level : judgement.code);
const judge = async (change: Partial<TrustQuestion> = {}): Promise<string> =>
  code(await judgeTrust(question(pack, change)));
const withKey = (change: Partial<TrustedKey>) => ({ keys: [{ ...acmeKey, ...change }], now: NOW });

describe('signatures', () => {
  test('both dialects verify: over pack.json, and over the whole archive', async () => {
    assert.equal(await judge(), 'signed');
    assert.equal(code(await judgeTrust(question(await signedPack({ method: 'ed25519' })))), 'signed');
  });

  test('a dialect is not taken for the other', async () => {
    const method = { method: 'ed25519', publicKeyRef: 'acme-1' } as const;
    assert.equal(await judge({ pack: { ...pack, signing: method } }), 'pack_signature_invalid');
  });

  test('a signature inside the archive counts when there is none beside it', async () => {
    const { detachedSignature, ...alone } = pack;
    const files = new Map(pack.files).set('pack.json.sig', Buffer.from(detachedSignature ?? []));
    assert.equal(await judge({ pack: { ...alone, files } }), 'signed');
    assert.equal(await judge({ pack: alone }), 'pack_signature_unverifiable');
  });

  for (const mode of ['open', 'verified'] as const)
    test(`a wrong signature is refused, also in mode ${mode}`, async () => {
      const forged = await signedPack({ keys: keyPair() });
      const judgement = await judgeTrust(question(forged, { policy: { mode } }));
      assert.equal(code(judgement), 'pack_signature_invalid');
      assert.ok(!judgement.trusted && judgement.message.includes('vendor.acme.tools@1.0.0'));
    });

  test('another manifest, another archive: one byte is enough', async () => {
    const manifestBytes = Buffer.from(pack.manifestBytes);
    manifestBytes[3] = 0x20;
    assert.equal(await judge({ pack: { ...pack, manifestBytes } }), 'pack_signature_invalid');
    const archive = Buffer.from(pack.archive);
    archive[20] = (archive[20] ?? 0) ^ 1;
    assert.equal(await judge({ pack: { ...pack, archive } }), 'pack_integrity_failure');
  });

  test('a key that the archive brings along proves nothing', async () => {
    const stranger = keyPair();
    const own = await signedPack({ keys: stranger });
    const files = new Map(own.files).set('keys/acme-1.pem', Buffer.from(stranger.publicKey));
    const asked = question({ ...own, files }, { trust: { keys: [], now: NOW } });
    assert.equal(code(await judgeTrust(asked)), 'pack_signature_unverifiable');
  });
});

describe('keys', () => {
  test('an unknown key cannot be verified, a revoked one is refused, a retired one still counts', async () => {
    assert.equal(await judge({ trust: { keys: [], now: NOW } }), 'pack_signature_unverifiable');
    assert.equal(await judge({ trust: withKey({ status: 'revoked' }) }), 'pack_signature_invalid');
    assert.equal(await judge({ trust: withKey({ status: 'retired' }) }), 'signed');
  });

  test('a key signs only for its namespaces', async () => {
    const only = (...permittedNamespaces: string[]) => judge({ trust: withKey({ permittedNamespaces }) });
    assert.equal(await only('vendor.other.*'), 'pack_namespace_unauthorized');
    assert.equal(await only('vendor.acme'), 'pack_namespace_unauthorized');
    assert.equal(await only('vendor.acm.*'), 'pack_namespace_unauthorized');
    assert.equal(await only('vendor.acme.tools'), 'signed');
  });

  test('the time of publication decides; expiry takes nothing back', async () => {
    const window = { validFrom: '2026-04-01T00:00:00Z', validUntil: '2026-05-15T00:00:00Z' };
    assert.equal(await judge({ trust: withKey(window) }), 'signed');
    const late = { ...record, publishedAt: '2026-05-15T00:00:00Z' };
    assert.equal(await judge({ trust: withKey(window), record: late }), 'pack_signature_unverifiable');
    const undated = { integrity: pack.integrity };
    assert.equal(await judge({ trust: withKey(window), record: undated }), 'pack_signature_unverifiable');
  });

  test('of two keys with one id the one of that time counts', async () => {
    const keys = [
      { ...acmeKey, publicKey: keyPair().publicKey, validFrom: '2026-05-20T00:00:00Z' },
      { ...acmeKey, validUntil: '2026-05-20T00:00:00Z' },
    ];
    assert.equal(await judge({ trust: { keys, now: NOW } }), 'signed');
  });
});

describe('policies', () => {
  const { integrity } = unsigned;
  const pin = { name: 'vendor.acme.tools', version: '1.0.0', integrity };
  const other = pack.integrity;
  const cases: readonly (readonly [string, TrustPolicy, string])[] = [
    ['verified refuses unsigned', { mode: 'verified' }, 'pack_signature_unverifiable'],
    ['open takes unsigned', { mode: 'open' }, 'unsigned'],
    ['an empty allow-list takes nothing', { mode: 'allowlist', packs: [] }, 'pack_not_allowed'],
    ['a listed name', { mode: 'allowlist', packs: [{ name: pin.name }] }, 'unsigned'],
    [
      'a listed range',
      { mode: 'allowlist', packs: [{ name: pin.name, versions: '^2' }] },
      'pack_not_allowed',
    ],
    [
      'a listed archive',
      { mode: 'allowlist', packs: [{ name: pin.name, integrity: other }] },
      'pack_integrity_failure',
    ],
    ['the pinned archive', { mode: 'pinned', pins: [pin] }, 'unsigned'],
    [
      'another archive than pinned',
      { mode: 'pinned', pins: [{ ...pin, integrity: other }] },
      'pack_integrity_failure',
    ],
    [
      'another version than pinned',
      { mode: 'pinned', pins: [{ ...pin, version: '1.0.1' }] },
      'pack_not_allowed',
    ],
  ];
  for (const [name, policy, expected] of cases)
    test(name, async () => {
      assert.equal(code(await judgeTrust(question(unsigned, { policy }))), expected);
    });

  test('a registry cannot bring a local pack', async () => {
    const local = await signedPack({ method: 'none', manifest: { name: 'local.acme.tools' } });
    assert.equal(code(await judgeTrust(question(local, { policy: { mode: 'open' } }))), 'invalid_pack_scope');
  });
});

describe('upgrades and withdrawn versions', () => {
  test('an upgrade never falls back to a weaker proof, in any mode', async () => {
    const installed = { version: '0.9.0', level: 'signed', signedBy: 'acme-1' } as const;
    const asked = question(unsigned, { policy: { mode: 'open' }, installed });
    assert.equal(code(await judgeTrust(asked)), 'pack_trust_downgrade');
    assert.equal(await judge({ installed: { version: '0.9.0', level: 'sigstore' } }), 'pack_trust_downgrade');
    assert.equal(await judge({ installed }), 'signed');
  });

  test('another signer than before is told', async () => {
    const installed = { version: '0.9.0', level: 'signed', signedBy: 'acme-0' } as const;
    const judgement = await judgeTrust(question(pack, { installed }));
    assert.ok(judgement.trusted && judgement.warnings.some((warning) => warning.includes('acme-0')));
  });

  test('a yanked version is for those who ask for exactly it, with the reason', async () => {
    const yanked = { ...record, yanked: { reason: 'broken build' } };
    assert.equal(await judge({ record: yanked }), 'pack_version_yanked');
    const judgement = await judgeTrust(question(pack, { record: yanked, isExact: true }));
    assert.ok(judgement.trusted && judgement.warnings.some((warning) => warning.includes('broken build')));
  });

  test('a deprecated version is taken, and both of its fields are quoted', async () => {
    const deprecated = { ...record, deprecated: { reason: 'old', supersededBy: '2.0.0' } };
    const judgement = await judgeTrust(question(pack, { record: deprecated }));
    assert.ok(judgement.trusted);
    assert.deepEqual(judgement.warnings, [
      'vendor.acme.tools@1.0.0: it is deprecated: old; superseded by 2.0.0.',
      'vendor.acme.tools@1.0.0: its signature covers pack.json only; pin the integrity to protect the code.',
    ]);
    const alone = await judgeTrust(question(pack, { record: { ...record, deprecated: { reason: 'old' } } }));
    assert.equal(alone.trusted && alone.warnings[0], 'vendor.acme.tools@1.0.0: it is deprecated: old.');
  });

  test('an advisory counts for the versions that it names, and for all if nobody can read which', async () => {
    const advisory = (versions: string) => ({
      id: 'OPENWOP-2026-0001',
      publishedAt: '2026-05-12',
      severity: 'high' as const,
      summary: 'SSRF',
      affected: [{ packName: 'vendor.acme.tools', versions, fixedIn: '1.0.1' }],
    });
    assert.equal(await judge({ advisories: [advisory('<1.0.1')] }), 'pack_version_vulnerable');
    assert.equal(await judge({ advisories: [advisory('>=2')] }), 'signed');
    assert.equal(await judge({ advisories: [advisory('all of them')] }), 'pack_version_vulnerable');
  });
});
