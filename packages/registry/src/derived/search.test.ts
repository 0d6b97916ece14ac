import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { PackSummary } from '../catalogue/catalogue.ts';
import { createSearch, type SearchQuery } from './search.ts';

const pack = (name: string, change: Partial<PackSummary> = {}): PackSummary => ({
  name,
  kind: 'node',
  latest: '1.0.0',
  description: '',
  license: 'MIT',
  author: 'Acme',
  tags: [],
  typeIds: [],
  nodeCount: 1,
  agentCount: 0,
  versionCount: 1,
  publishedAt: '2026-01-01T00:00:00.000Z',
  deprecated: false,
  yanked: false,
  ...change,
});

const searchOf = (...packs: readonly PackSummary[]) => {
  const search = createSearch();
  return (query: SearchQuery) => search({ summaries: () => packs }, query);
};

const namesOf = (packs: readonly PackSummary[], q: string): string[] =>
  searchOf(...packs)({ q, limit: 100 }).results.map(({ name }) => name);

test('the name counts more than a tag, a tag more than a type, a type more than the description', () => {
  const packs = [
    pack('vendor.acme.a', { description: 'Sends mail.' }),
    pack('vendor.acme.b', { typeIds: ['vendor.acme.b.mail'] }),
    pack('vendor.acme.c', { tags: ['mail'] }),
    pack('vendor.acme.mail'),
    pack('vendor.acme.other'),
  ];
  assert.deepEqual(namesOf(packs, 'mail'), [
    'vendor.acme.mail',
    'vendor.acme.c',
    'vendor.acme.b',
    'vendor.acme.a',
  ]);
});

test('a whole word counts more than its beginning, and the middle of a word not at all', () => {
  const packs = [pack('vendor.acme.mailbox'), pack('vendor.acme.mail'), pack('vendor.acme.email')];
  assert.deepEqual(namesOf(packs, 'mail'), ['vendor.acme.mail', 'vendor.acme.mailbox']);
});

test('every word must be there, and words inside camel case are', () => {
  const packs = [
    pack('vendor.acme.chat', { typeIds: ['vendor.acme.chat.sendMessage'] }),
    pack('vendor.acme.mail', { description: 'Sends messages.' }),
  ];
  assert.deepEqual(namesOf(packs, 'chat MESSAGE'), ['vendor.acme.chat']);
  assert.deepEqual(namesOf(packs, 'sendmessage'), ['vendor.acme.chat']);
  assert.deepEqual(namesOf(packs, 'chat nothing'), []);
});

test('the exact name or type id comes first, whatever else matches better', () => {
  const packs = [
    pack('vendor.acme.http', { tags: ['vendor', 'acme', 'http', 'get'], typeIds: ['vendor.acme.http.get'] }),
    pack('vendor.acme.tools', { typeIds: ['http.get'] }),
  ];
  assert.equal(namesOf(packs, 'http.get')[0], 'vendor.acme.tools');
  assert.equal(namesOf(packs, 'vendor.acme.http')[0], 'vendor.acme.http');
});

test('deprecated packs come after equals, withdrawn ones after everything', () => {
  const packs = [
    pack('vendor.acme.mail-a', { yanked: true, tags: ['mail'] }),
    pack('vendor.acme.mail-b', { deprecated: true }),
    pack('vendor.acme.mail-c'),
    pack('vendor.acme.x', { description: 'mail' }),
  ];
  assert.deepEqual(namesOf(packs, 'mail'), [
    'vendor.acme.mail-c',
    'vendor.acme.mail-b',
    'vendor.acme.x',
    'vendor.acme.mail-a',
  ]);
});

test('without a question the newest come first', () => {
  const packs = [
    pack('vendor.acme.old', { publishedAt: '2025-01-01T00:00:00.000Z' }),
    pack('vendor.acme.new', { publishedAt: '2026-02-01T00:00:00.000Z' }),
  ];
  assert.deepEqual(namesOf(packs, '  '), ['vendor.acme.new', 'vendor.acme.old']);
});

test('pages hold every result once, in one order, whatever their size', () => {
  const word = fc.constantFrom('mail', 'mailbox', 'http', 'data');
  const packs = fc.uniqueArray(
    fc.record({
      id: fc.nat(500),
      tags: fc.array(word, { maxLength: 3 }),
      deprecated: fc.boolean(),
      yanked: fc.boolean(),
    }),
    { selector: ({ id }) => id, maxLength: 40 },
  );
  fc.assert(
    fc.property(
      packs,
      fc.constantFrom('', 'mail', 'ma data'),
      fc.integer({ min: 1, max: 7 }),
      (made, q, limit) => {
        const all = made.map(({ id, ...rest }) => pack(`vendor.acme.p${id}`, rest));
        const whole = searchOf(...all)({ q, limit: 100 });
        const search = searchOf(...all.toReversed());
        const paged: string[] = [];
        let cursor: string | undefined;
        do {
          const page = search({ q, limit, ...(cursor !== undefined && { cursor }) });
          assert.equal(page.total, whole.total);
          assert.ok(page.results.length <= limit);
          paged.push(...page.results.map(({ name }) => name));
          cursor = page.nextCursor;
        } while (cursor !== undefined);
        assert.deepEqual(
          paged,
          whole.results.map(({ name }) => name),
        );
      },
    ),
  );
});

test('a cursor stays good when packs come and go', () => {
  const packs = ['a', 'b', 'c', 'd'].map((id) => pack(`vendor.acme.${id}`, { tags: ['mail'] }));
  const first = searchOf(...packs)({ q: 'mail', limit: 2 });
  assert.ok(first.nextCursor);
  const changed = [pack('vendor.acme.aa', { tags: ['mail'] }), packs[0]!, packs[2]!, packs[3]!];
  const next = searchOf(...changed)({ q: 'mail', limit: 2, cursor: first.nextCursor });
  assert.deepEqual(
    next.results.map(({ name }) => name),
    ['vendor.acme.c', 'vendor.acme.d'],
  );
});

test('a cursor that no search gave out is refused', () => {
  for (const cursor of ['%', 'bm8', Buffer.from('[1,2]').toString('base64url')])
    assert.throws(() => searchOf()({ q: '', limit: 1, cursor }), /Start again without it/);
});

test('a long question over many long descriptions is answered at once', () => {
  const words = Array.from({ length: 300 }, (_, index) => `aaaa${index}`).join(' ');
  const packs = Array.from({ length: 2_000 }, (_, index) =>
    pack(`vendor.acme.p${index}`, { description: words }),
  );
  const search = searchOf(...packs);
  search({ q: 'a', limit: 1 });
  const begin = performance.now();
  const answer = search({ q: 'a '.repeat(50) + 'aaa '.repeat(25), limit: 20 });
  assert.equal(answer.total, 2_000);
  assert.ok(performance.now() - begin < 20_000);
});
