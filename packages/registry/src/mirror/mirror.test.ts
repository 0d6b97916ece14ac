import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEgress, LOOPBACK_POLICY } from '@gantry/egress';
import { fetchPack, judgeFetched, openHttpRegistry } from '@gantry/packs';
import { claim } from '../testing/acme.ts';
import { emptyMirror, memoryRegistry, pack, SOURCE, sourceDocuments } from '../testing/mirror.ts';
import { keyPair } from '../testing/packs.ts';
import { apiKey } from '../testing/test-registry.ts';
import type { NamedReason } from './mirror.ts';

const TOOLS = 'vendor.acme.tools';
const MAIL = 'vendor.acme.mail';

const ADVISORY = {
  id: 'OPENWOP-2026-0007',
  publishedAt: '2026-05-12',
  severity: 'high',
  summary: 'It sends mail to everybody',
  affected: [
    { packName: MAIL, versions: '<2.0.0', fixedIn: '2.0.0' },
    { packName: 'vendor.acme.elsewhere', versions: '*' },
  ],
};

const bytesOf = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

const told = (list: readonly NamedReason[]): string[] =>
  list.map(({ what, code }) => `${what} ${code ?? ''}`.trim());

const ALL_COPIED = {
  packs: 2,
  total: 4,
  done: 4,
  copied: 4,
  there: 0,
  updated: 0,
  refused: [],
  leftOut: [],
  keys: 1,
  assignments: 1,
  keychains: 0,
  advisories: 1,
  notTried: 0,
};

test('a copy verifies with the keys of the registry it was made from, and says the same', async (t) => {
  const yanked = { yanked: true, yankedReason: 'It burns.', advisoryUrl: 'https://example.org/1' };
  const deprecated = { deprecated: true, deprecationReason: 'Old.', supersededBy: `${TOOLS}@1.2.0` };
  const documents = await sourceDocuments(
    [
      pack(TOOLS, '1.0.0', { served: yanked }),
      pack(TOOLS, '1.1.0', { served: deprecated }),
      pack(TOOLS, '1.2.0', { method: 'ed25519', served: { publishedAt: '2026-05-02T00:00:00Z' } }),
      pack(MAIL, '1.0.0'),
    ],
    { namespaceAssignments: [{ namespace: 'vendor.acme.*', owner: 'Acme', claimedAt: '2026-01-01' }] },
  );
  const manifest = `/v1/packs/${MAIL}/-/1.0.0.json`;
  const { publishedAt, ...silent } = JSON.parse(String(documents.get(manifest)));
  documents.set(manifest, bytesOf(silent));
  documents.set('/security/advisories.json', bytesOf({ advisories: [ADVISORY] }));
  const mirror = await emptyMirror(t);
  const { bytes, ...summary } = await mirror.copy(memoryRegistry(documents));
  assert.ok(bytes > 0);
  assert.deepEqual(summary, ALL_COPIED);

  const index = await mirror.read(`/v1/packs/${TOOLS}`);
  assert.partialDeepStrictEqual(index, {
    latest: '1.2.0',
    versions: {
      '1.0.0': { yanked: { reason: 'It burns.', advisoryUrl: 'https://example.org/1' } },
      '1.1.0': { deprecation: { reason: 'Old.', supersededBy: `${TOOLS}@1.2.0` } },
      '1.2.0': { publishedAt: '2026-05-02T00:00:00Z', verification: 'verified' },
    },
  });
  assert.partialDeepStrictEqual(await mirror.read('/.well-known/openwop-registry'), {
    signingKeys: [
      { keyId: 'acme-1', permittedNamespaces: ['vendor.acme.*'], publicKeyUrl: '/keys/acme-1.pub' },
    ],
    namespaceAssignments: [{ namespace: 'vendor.acme.*', owner: 'Acme' }],
  });
  const { affected } = ADVISORY;
  assert.deepEqual(await mirror.read('/security/advisories.json'), {
    advisories: [{ ...ADVISORY, affected: affected.slice(0, 1) }],
  });
  // What an advisory is about is withdrawn here, even where the other registry goes on offering it.
  const mail = await mirror.read(manifest);
  assert.equal(mail?.publishedAt, publishedAt, 'the index alone says when');
  assert.match(String(mail?.yankedReason), /OPENWOP-2026-0007/);

  const url = await mirror.server.app.listen({ host: '127.0.0.1', port: 0 });
  const reader = openHttpRegistry({ url, egress: createEgress({ policy: LOOPBACK_POLICY }) });
  for (const [name, version] of [
    [TOOLS, '1.1.0'],
    [TOOLS, '1.2.0'],
  ] as const) {
    const fetched = await fetchPack({ registry: reader, name, version });
    const judged = await judgeFetched(fetched, {
      policy: { mode: 'verified' },
      isExact: true,
      now: Date.now(),
    });
    assert.equal(judged.trusted, true, version);
  }
});

test('what is here is not fetched again, and what was left half-way goes on', async (t) => {
  const documents = await sourceDocuments(['1.0.0', '1.1.0', '1.2.0'].map((version) => pack(TOOLS, version)));
  const mirror = await emptyMirror(t);
  const fetched: string[] = [];
  const source = memoryRegistry(documents, {
    onRead: (path) => void (path.endsWith('.tgz') && fetched.push(path)),
  });
  const ended = new AbortController();
  const first = await mirror.copy(source, {
    signal: ended.signal,
    progress: () => ended.abort(),
  });
  assert.ok(first.done >= 1);
  const before = fetched.length;
  const second = await mirror.copy(source);
  assert.equal(second.copied + second.there, 3);
  assert.equal(second.there, first.copied);
  assert.equal(fetched.length - before, second.copied);
  const third = await mirror.copy(source);
  assert.equal(third.there, 3);
  assert.equal(fetched.length - before, second.copied);
});

test('nothing is kept that does not prove itself; the rest is', async (t) => {
  const documents = await sourceDocuments([
    pack(TOOLS, '1.0.0'),
    pack(TOOLS, '1.1.0'),
    pack(TOOLS, '1.2.0', { method: 'none' }),
    pack(MAIL, '1.0.0', { served: { integrity: `sha256-${'A'.repeat(43)}=` } }),
    pack('vendor.other.tools', '1.0.0'),
    pack('private.acme.tools', '1.0.0'),
  ]);
  documents.set(`/v1/packs/${TOOLS}/-/1.1.0.sig`, Buffer.alloc(64));
  const mirror = await emptyMirror(t);
  const summary = await mirror.copy(memoryRegistry(documents));
  assert.deepEqual(told(summary.refused).sort(), [
    'private.acme.tools@1.0.0 invalid_pack_scope',
    `${MAIL}@1.0.0 pack_integrity_failure`,
    `${TOOLS}@1.1.0 pack_signature_invalid`,
    `${TOOLS}@1.2.0 pack_signature_unverifiable`,
    'vendor.other.tools@1.0.0 pack_namespace_unauthorized',
  ]);
  assert.equal(summary.copied, 1);
  assert.equal((await mirror.stored()).length, 1);
  assert.equal(await mirror.read('/v1/packs/vendor.other.tools'), undefined);
});

test('what changes there is followed; what was done here stays', async (t) => {
  const versions = ['1.0.0', '1.1.0', '1.2.0'];
  const mirror = await emptyMirror(t);
  await mirror.copy(memoryRegistry(await sourceDocuments(versions.map((version) => pack(TOOLS, version)))));
  const at = (version: string): string => `/v1/packs/${TOOLS}/-/${version}`;
  const own = await mirror.request({
    method: 'POST',
    url: `${at('1.1.0')}/yank`,
    payload: { reason: 'Not here.' },
  });
  assert.equal(own.statusCode, 200, own.body);

  const burned = { served: { yanked: true, yankedReason: 'It burns.' } };
  const later = await sourceDocuments([
    pack(TOOLS, '1.0.0', burned),
    pack(TOOLS, '1.1.0'),
    pack(TOOLS, '1.2.0'),
  ]);
  const followed = await mirror.copy(memoryRegistry(later));
  assert.deepEqual([followed.updated, followed.there], [1, 2]);
  assert.equal((await mirror.read(`${at('1.0.0')}.json`))?.yankedReason, 'It burns.');
  assert.equal((await mirror.read(`${at('1.1.0')}.json`))?.yankedReason, 'Not here.');

  const again = await sourceDocuments(versions.map((version) => pack(TOOLS, version)));
  assert.equal((await mirror.copy(memoryRegistry(again))).updated, 1);
  assert.equal((await mirror.read(`${at('1.0.0')}.json`))?.yanked, false);
  assert.equal((await mirror.read(`${at('1.1.0')}.json`))?.yanked, true);
});

test('a pack comes from one place', async (t) => {
  const mirror = await emptyMirror(t, { settings: { acceptsUnsigned: true } });
  await mirror.copy(memoryRegistry(await sourceDocuments([pack(TOOLS)])));
  const more = await sourceDocuments([pack(TOOLS), pack(TOOLS, '9.0.0')]);
  const elsewhere = memoryRegistry(more, { url: 'https://other.example' });
  const other = await mirror.copy(elsewhere);
  assert.deepEqual(told(other.refused), [`${TOOLS}@9.0.0 conflict`]);
  assert.equal(other.there, 1, 'the same bytes are the same');
  assert.equal((await mirror.copy(elsewhere, { source: SOURCE })).copied, 1, 'a registry that moved');

  const rival = await apiKey(mirror, 'rival');
  for (const namespace of ['vendor.acme.*', TOOLS, 'vendor.acme.fresh'])
    assert.equal((await claim(mirror, { namespace }, rival)).json().error, 'conflict', namespace);
  assert.equal((await claim(mirror, { namespace: 'vendor.rival.*' }, rival)).statusCode, 201);
  const claimed = await mirror.copy(memoryRegistry(await sourceDocuments([pack('vendor.rival.tools')])));
  assert.match(claimed.refused[0]?.reason ?? '', /vendor\.rival\.\* is claimed here by rival/);
});

test('a key that is known with other bytes is refused, with all that it signed', async (t) => {
  const mirror = await emptyMirror(t);
  await mirror.copy(memoryRegistry(await sourceDocuments([pack(TOOLS)])));
  const stranger = await sourceDocuments([pack(MAIL)]);
  stranger.set('/keys/acme-1.pub', Buffer.from(keyPair().publicKey));
  const { refused } = await mirror.copy(memoryRegistry(stranger, { url: 'https://other.example' }));
  assert.deepEqual(told(refused), [`${MAIL}@1.0.0 pack_signature_unverifiable`, 'key acme-1']);
});

test('only the packs that are asked for come, and the rest of what is known stays', async (t) => {
  const documents = await sourceDocuments([pack(TOOLS), pack(MAIL)]);
  const mirror = await emptyMirror(t);
  assert.equal((await mirror.copy(memoryRegistry(documents), { only: [MAIL] })).copied, 1);
  assert.equal((await mirror.copy(memoryRegistry(documents), { only: ['vendor.nobody.*'] })).total, 0);
  assert.partialDeepStrictEqual(await mirror.read('/.well-known/openwop-registry'), {
    signingKeys: [{ keyId: 'acme-1' }],
  });
  assert.equal(await mirror.read(`/v1/packs/${TOOLS}`), undefined);
});
