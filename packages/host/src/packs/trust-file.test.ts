import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SettingsError } from '../settings.ts';
import { testHost } from '../testing/test-host.ts';
import { acme } from './testing/signed-archive.ts';
import { trustFile } from './testing/trust-test.ts';
import { loadTrust } from './trust-file.ts';

const packSignatures = 'manifest' as const;
const REGISTRY = 'https://packs.acme.example/';
const text = (value: unknown): string => JSON.stringify(value, null, 2);

const BAD: readonly (readonly [string, string, RegExp])[] = [
  ['no JSON', '{\n  "policy": {', /trust\.json:2:14: Expected a key/],
  ['a key twice', '{ "policy": 1,\n "policy": 2 }', /trust\.json:2:2: Duplicate key/],
  ['no policy', '{}', /trust\.json:1:1: .*polic/],
  ['an unknown mode', text({ policy: { mode: 'loose' } }), /trust\.json:3:13: \/policy\/mode: .*open/],
  ['an unknown member', text({ policy: { mode: 'open' }, key: [] }), /trust\.json:5:10: \/key: .*not belong/],
  ['pins of another mode', text({ policy: { mode: 'open', pins: [] } }), /trust\.json:4:13: \/policy\/pins/],
  [
    'a pin without integrity',
    text({ policy: { mode: 'pinned', pins: [{ name: 'a' }] } }),
    /:5:7: \/policy\/pins\/0/,
  ],
  [
    'a key that is none',
    text({ policy: { mode: 'open' }, keys: [{ ...acme.key, publicKey: 'x' }] }),
    /\/keys\/0\/publicKey: .*Ed25519/,
  ],
  [
    'a time that is none',
    text({ policy: { mode: 'open' }, keys: [{ ...acme.key, validUntil: 'tomorrow' }] }),
    /\/keys\/0\/validUntil: .*time/,
  ],
  [
    'a registry that is not asked',
    text({ policy: { mode: 'open' }, registries: [{ url: 'https://other.example' }] }),
    /GANTRY_REGISTRY_URL/,
  ],
  [
    'a registry with half a policy',
    text({ policy: { mode: 'open' }, registries: [{ url: REGISTRY, policy: { mode: 'allowlist' } }] }),
    /\/registries\/0\/policy: /,
  ],
  [
    'a permission that is none',
    text({ policy: { mode: 'open' }, grants: { 'vendor.acme.x': ['root'] } }),
    /\/grants\/vendor.acme.x\/0: /,
  ],
];

for (const [what, content, message] of BAD)
  test(`a trust file with ${what} is refused with its place`, async (t) => {
    const settings = { trustFile: await trustFile(t, content), registries: [REGISTRY], packSignatures };
    await assert.rejects(loadTrust(settings), (error) => {
      assert.ok(error instanceof SettingsError);
      assert.match(error.message, message);
      return true;
    });
  });

test('a bad or missing trust file stops the start', async (t) => {
  const bad = await trustFile(t, '{}');
  for (const file of [bad, `${bad}.gone`])
    await assert.rejects(testHost(t, { settings: { trustFile: file } }), SettingsError);
});

test('the whole file is read', async (t) => {
  const policy = { mode: 'verified' };
  const registries = [{ url: REGISTRY.slice(0, -1), policy: { mode: 'open' }, keys: [acme.key] }];
  const signer = {
    issuer: 'https://issuer.example',
    subject: 'me@acme.example',
    permittedNamespaces: ['vendor.acme.*'],
  };
  const sigstore = { trustedRoot: { mediaType: 'x' }, signers: [signer] };
  const grants = { 'vendor.acme.x': ['net.outbound'] };
  const content = { policy, keys: [acme.key], registries, sigstore, grants };
  const trust = await loadTrust({
    trustFile: await trustFile(t, content),
    registries: [REGISTRY],
    packSignatures,
  });
  assert.deepEqual(trust, { ...content, demands: 'manifest', registryPolicy: policy });
});

test('without a file, what is handed over is trusted and what a registry sends must be proved', async () => {
  const { policy, registryPolicy } = await loadTrust({
    trustFile: undefined,
    registries: [],
    packSignatures,
  });
  assert.deepEqual([policy.mode, registryPolicy.mode], ['open', 'verified']);
});
