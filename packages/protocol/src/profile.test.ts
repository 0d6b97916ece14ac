import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Compile } from 'typebox/schema';
import { DiscoveryDocument } from './discovery.ts';
import { type Profile, profilesOf, satisfiesProfile } from './profile.ts';
import { publicValidator, skipWithoutPublicData } from './testing/public-schemas.ts';
import { discovery } from './testing/samples.ts';

const core = {
  protocolVersion: '1.0',
  supportedEnvelopes: [],
  schemaVersions: {},
  limits: { clarificationRounds: 3, schemaRounds: 2, envelopesPerTurn: 5 },
};
const document = Compile(DiscoveryDocument);

describe('discovery document', () => {
  test('the document of a host is valid under ours and the public schema', {
    skip: skipWithoutPublicData,
  }, () => {
    assert.deepEqual([...document.Errors(discovery)[1]], []);
    assert.deepEqual(publicValidator('capabilities.schema.json')?.(discovery), []);
  });

  test('root is open, limits are closed, the version is strict', () => {
    assert.ok(document.Check({ ...core, kanban: { supported: true } }));
    assert.equal(document.Check({ ...core, limits: { ...core.limits, unknown: 1 } }), false);
    assert.equal(document.Check({ ...core, restTransport: { conditionalRunGet: true } }), false);
    for (const protocolVersion of ['1.0.0', '1', '01.0', 'v1.0']) {
      assert.equal(document.Check({ ...core, protocolVersion }), false, protocolVersion);
    }
  });
});

const LEAST: Profile[] = [
  'openwop-core',
  'openwop-discovery-core',
  'openwop-stream-sse',
  'openwop-stream-poll',
  'openwop-node-packs',
];

/** What must be added to the least document, and near misses that must not do. */
const BEYOND: Partial<Record<Profile, { enough: object[]; short: object[] }>> = {
  'openwop-interrupts': {
    enough: [{ supportedEnvelopes: ['clarification.request'] }],
    short: [{ supportedEnvelopes: ['error'] }],
  },
  'openwop-core-standard': {
    enough: [{ supportedEnvelopes: ['clarification.request'] }],
    short: [{ supportedEnvelopes: ['clarification.request'], supportedTransports: ['mcp'] }],
  },
  'openwop-secrets': {
    enough: [{ secrets: { supported: true, scopes: ['tenant', 'user'] } }],
    short: [
      { secrets: { supported: true, scopes: ['tenant'] } },
      { secrets: { supported: false, scopes: ['user'] } },
    ],
  },
  'openwop-provider-policy': {
    enough: [{ aiProviders: { policies: { modes: ['optional'] } } }],
    short: [{ aiProviders: { policies: { modes: ['required'] } } }, { aiProviders: {} }],
  },
  'openwop-replay-fork': {
    enough: [{ replay: { supported: true, modes: ['branch'] } }],
    short: [{ replay: { supported: true, modes: [] } }, { replay: { supported: 'yes', modes: ['branch'] } }],
  },
  'openwop-fixtures': { enough: [{ fixtures: ['x'] }], short: [{ fixtures: [] }, { fixtures: [''] }] },
  'openwop-memory': {
    enough: [{ memory: { supported: true }, agents: { memoryBackends: ['long-term'] } }],
    short: [
      { memory: { supported: true, writable: false }, agents: { memoryBackends: ['long-term'] } },
      { memory: { supported: true } },
    ],
  },
  'openwop-trigger-bridge': {
    enough: [
      { triggerBridge: { supported: true }, deadLetter: { supported: true }, queueBus: { supported: true } },
      { triggerBridge: { supported: true }, deadLetter: { supported: true }, webhooks: { durable: true } },
      {
        triggerBridge: { supported: true },
        deadLetter: { supported: true },
        scheduling: { supported: true },
      },
      {
        triggerBridge: { supported: true, ingestion: { externalSources: ['form'] } },
        deadLetter: { supported: true },
      },
    ],
    short: [
      { triggerBridge: { supported: true }, deadLetter: { supported: true }, webhooks: { durable: false } },
      { triggerBridge: { supported: true }, queueBus: { supported: true } },
    ],
  },
};

describe('profiles', () => {
  test('the least document satisfies these and no more', () => {
    assert.deepEqual(profilesOf(core), LEAST);
  });

  for (const [name, { enough, short }] of Object.entries(BEYOND)) {
    const profile = name as Profile;
    test(profile, () => {
      for (const family of enough) assert.ok(satisfiesProfile({ ...core, ...family }, profile));
      for (const family of short) assert.ok(!satisfiesProfile({ ...core, ...family }, profile));
      for (const family of enough)
        assert.deepEqual(profilesOf({ ...core, ...family, protocolVersion: '2.0' }), []);
    });
  }

  test('streams need the rest transport when transports are listed', () => {
    assert.ok(satisfiesProfile({ ...core, supportedTransports: ['mcp', 'rest'] }, 'openwop-stream-sse'));
    assert.ok(!satisfiesProfile({ ...core, supportedTransports: ['mcp'] }, 'openwop-stream-poll'));
  });

  test('without a well-typed core there is no profile', () => {
    for (const broken of [
      { protocolVersion: '1.0.0' },
      { supportedEnvelopes: 'all' },
      { schemaVersions: { x: -1 } },
      { limits: { clarificationRounds: 3, schemaRounds: 2 } },
    ]) {
      assert.deepEqual(profilesOf({ ...core, ...broken }), []);
    }
  });

  test('no document of another host makes them throw', () => {
    fc.assert(fc.property(fc.jsonValue(), (doc) => Array.isArray(profilesOf(doc))));
    const family = fc.constantFrom(
      'secrets',
      'replay',
      'memory',
      'agents',
      'aiProviders',
      'triggerBridge',
      'fixtures',
    );
    fc.assert(
      fc.property(fc.dictionary(family, fc.jsonValue()), (families) =>
        profilesOf({ ...core, ...families }).includes('openwop-core'),
      ),
    );
  });
});
