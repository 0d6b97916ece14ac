/** What every backend of the search port must do, through the port: I1 to I4. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { EVERYTHING, type Filter, isEqual } from '../capabilities/documents/filter.ts';
import { parseQuery } from '../capabilities/search/parse-query.ts';
import { freshTenant, NOW, read, write } from '../testing/calls.ts';
import { HOSTILE_TEXTS } from '../testing/hostile-texts.ts';
import type { Fields, SearchLimits, SearchPort } from './search.ts';
import { searchParts, searchRanking } from './search-model-contract.ts';

export interface OpenedSearch {
  readonly port: SearchPort;
  close(): Promise<void>;
}

export const SEARCH_CONTRACT_LIMITS: SearchLimits = {
  documentsMax: 200,
  indexesMax: 40,
  // Room for as many indexes as there may be, where each costs something by itself
  quotaBytes: 2_000_000,
};

/** `open` makes a port with `SEARCH_CONTRACT_LIMITS`. Every test is a tenant of its own. */
export function searchContract(
  name: string,
  open: () => Promise<OpenedSearch>,
  skip: string | false = false,
): void {
  describe(`search port: ${name}`, { skip }, () => {
    let opened: OpenedSearch | null = null;
    const port = (): SearchPort => opened?.port ?? assert.fail('the port is not open');
    before(async () => {
      opened = await open();
    });
    after(() => opened?.close());
    words(port);
    parts(port);
    isolation(port);
    writes(port);
    once(port);
    limits(port);
    test('I2: ranks as BM25 does', () => searchRanking(port()));
    test('I2: any part of any field finds its document', () => searchParts(port()));
    test('is healthy', () => port().health());
  });
}

type Texts = Readonly<Record<string, Fields | string>>;

const index = (port: SearchPort, tenant: string, texts: Texts, name = 'i') => {
  const documents = Object.entries(texts).map(([id, fields]) => ({
    id,
    fields: typeof fields === 'string' ? { text: fields } : fields,
  }));
  return port.index({ index: name, documents }, write(tenant));
};

interface Asked {
  readonly name?: string;
  readonly k?: number;
  readonly filter?: Filter;
}

const find = (port: SearchPort, tenant: string, text: string, { name = 'i', ...asked }: Asked = {}) =>
  port.query({ index: name, query: parseQuery(text), k: 10, filter: EVERYTHING, ...asked }, read(tenant));

const ids = async (found: ReturnType<typeof find>): Promise<string[]> => (await found).map(({ id }) => id);
const sortedIds = async (found: ReturnType<typeof find>): Promise<string[]> => (await ids(found)).sort();

const LIBRARY: Texts = {
  databases: { title: 'Database engines for vector search', body: 'Pinecone Qdrant Weaviate pgvector' },
  workflows: { title: 'Workflow orchestration patterns', body: 'durable runs interrupts replay event log' },
  systems: { title: 'Distributed systems primer', body: 'consensus Paxos Raft leader election', year: 2019 },
};

function words(port: () => SearchPort): void {
  test('the document with most of the words comes first, with all of its fields', async () => {
    const tenant = freshTenant();
    assert.deepEqual(await index(port(), tenant, LIBRARY), { indexed: 3 });
    const [first] = await find(port(), tenant, 'durable workflow runs, or leader');
    assert.deepEqual([first?.id, first?.fields], ['workflows', LIBRARY.workflows]);
    const [systems] = await find(port(), tenant, 'raft');
    assert.deepEqual(Object.keys(systems?.fields ?? {}), ['body', 'title', 'year']);
    assert.deepEqual(await ids(find(port(), tenant, 'raft', { k: 1 })), ['systems']);
    assert.deepEqual(await ids(find(port(), tenant, '2019')), ['systems']);
    assert.deepEqual(await ids(find(port(), tenant, 'unheard')), []);
    assert.equal((await find(port(), tenant, 'search log leader', { k: 2 })).length, 2);
  });

  test('of equal ones those with the lower ids come first, also where not all are given', async () => {
    const tenant = freshTenant();
    const names = ['é', 'd', 'Z', 'b', '🙂', 'c', 'a', '\uffff'];
    for (const name of names) await index(port(), tenant, { [name]: { text: 'same words', n: 1 } });
    await index(port(), tenant, { best: 'same same', none: 'other' });
    const ordered = names.toSorted((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
    for (const filter of [EVERYTHING, isEqual(['n'], 1)])
      for (const k of [3, 8]) {
        const found = await ids(find(port(), tenant, 'words', { k, filter }));
        assert.deepEqual(found, ordered.slice(0, k));
      }
    assert.deepEqual((await ids(find(port(), tenant, 'same', { k: 3 }))).slice(1), ordered.slice(0, 2));
  });

  test('phrases, exclusions and beginnings', async () => {
    const tenant = freshTenant();
    const texts = {
      a: 'red green blue',
      b: 'green red blue',
      c: { one: 'red', two: 'green' },
      d: 'greenish',
    };
    await index(port(), tenant, texts);
    assert.deepEqual(await sortedIds(find(port(), tenant, '"red green"')), ['a']);
    assert.deepEqual(await sortedIds(find(port(), tenant, 'red -blue')), ['c']);
    assert.deepEqual(await sortedIds(find(port(), tenant, 'green -"green red"')), ['a', 'c']);
    assert.deepEqual(await sortedIds(find(port(), tenant, 'green*')), ['a', 'b', 'c', 'd']);
    assert.deepEqual(await sortedIds(find(port(), tenant, 'blu* -green*')), []);
    assert.deepEqual(await sortedIds(find(port(), tenant, '-red')), [], 'exclusions alone find nothing');
  });

  test('case, accents and width do not count; scripts without spaces are searched too', async () => {
    const tenant = freshTenant();
    await index(port(), tenant, {
      a: 'Café CRÈME',
      b: '全文検索データベース',
      c: 'ＦＵＬＬ width',
      d: 'ΟΔΟΣ',
    });
    assert.deepEqual(await ids(find(port(), tenant, 'cafe creme')), ['a']);
    assert.deepEqual(await ids(find(port(), tenant, '検索')), ['b']);
    assert.deepEqual(await ids(find(port(), tenant, '索検')), []);
    assert.deepEqual(await ids(find(port(), tenant, 'full')), ['c']);
    assert.deepEqual(await ids(find(port(), tenant, 'οδος')), ['d']);
  });

  test('filters choose by fields', async () => {
    const tenant = freshTenant();
    const texts = Object.fromEntries(
      Array.from({ length: 30 }, (_, n) => [`d${n}`, { text: 'common partial', n, odd: n % 2 === 1 }]),
    );
    await index(port(), tenant, texts);
    const odd = isEqual(['odd'], true);
    const late: Filter = { kind: 'all', of: [odd, { kind: 'compare', path: ['n'], is: '>', value: 26 }] };
    assert.deepEqual(await sortedIds(find(port(), tenant, 'common', { filter: late })), ['d27', 'd29']);
    assert.deepEqual(await sortedIds(find(port(), tenant, 'artia', { filter: late })), ['d27', 'd29']);
    assert.equal((await find(port(), tenant, 'common', { filter: odd, k: 50 })).length, 15);
  });
}

function parts(port: () => SearchPort): void {
  test('a part of a field finds it, after what has the words', async () => {
    const tenant = freshTenant();
    await index(port(), tenant, { ...LIBRARY, word: 'gines', long: `gines in ${'a long text '.repeat(20)}` });
    for (const part of ['atabas', 'base eng', 'BASE ENG', 'gines for', 's f', 'Qd', 'q', '019', 'true'])
      assert.ok(
        (await ids(find(port(), tenant, part))).includes('databases') || part === '019' || part === 'true',
        part,
      );
    assert.deepEqual(await ids(find(port(), tenant, '019')), ['systems']);
    const found = await find(port(), tenant, 'gines');
    assert.deepEqual(
      found.map(({ id }) => id),
      ['word', 'long', 'databases'],
    );
    assert.ok(found.every(({ score }) => score > 0));
    assert.ok(found[2]!.score < found[1]!.score);
  });

  test('a part is found however many words it has', async () => {
    const tenant = freshTenant();
    const text = Array.from({ length: 5_000 }, (_, n) => `word${n}`).join(' ');
    const other = text.replace('word77 ', 'Word ');
    await index(port(), tenant, { long: text });
    await index(port(), tenant, { other });
    assert.deepEqual(await ids(find(port(), tenant, text.slice(3, 32_000))), ['long']);
    assert.deepEqual(await ids(find(port(), tenant, other.slice(3, 1_200).toUpperCase())), ['other']);
    assert.deepEqual(await ids(find(port(), tenant, `${text.slice(0, 1_200)}!`)), []);
  });

  test('no part reaches over two fields', async () => {
    const tenant = freshTenant();
    await index(port(), tenant, { a: { one: 'abcd', two: 'efgh' } });
    assert.deepEqual(await ids(find(port(), tenant, 'cdef')), []);
    assert.deepEqual(await ids(find(port(), tenant, '"abcd efgh"')), []);
  });
}

/** What full-text engines take for operators. */
const OPERATORS = [
  'AND',
  'OR',
  'NOT',
  'NEAR(a b)',
  'title:x',
  '^a',
  'a + b',
  '{a b}:c',
  'a & !b | c <-> d:*',
];

function isolation(port: () => SearchPort): void {
  test('I1: tenants and indexes share nothing, and no score depends on others', async () => {
    const [ours, theirs] = [freshTenant(), freshTenant()];
    await index(port(), ours, { a: 'secret plan', b: 'other' });
    const before = await find(port(), ours, 'secret');
    await assert.rejects(find(port(), theirs, 'secret'), { code: 'search_index_not_found' });
    await index(port(), theirs, { a: 'plan of theirs', c: 'secret secret', d: 'secret' });
    await index(port(), ours, { e: 'secret in another index' }, 'apart');
    assert.deepEqual(await find(port(), ours, 'secret'), before);
    assert.deepEqual(await ids(find(port(), ours, 'heirs')), []);
    assert.deepEqual(await sortedIds(find(port(), theirs, 'lan')), ['a']);
    assert.deepEqual(await port().delete({ index: 'i', ids: ['a', 'b'] }, write(theirs)), { deleted: 1 });
    assert.deepEqual(await ids(find(port(), ours, 'plan')), ['a']);
  });

  test('nothing in a name, a text or a query has a meaning of its own', async () => {
    const tenant = freshTenant();
    for (const text of [...HOSTILE_TEXTS, ...OPERATORS]) {
      if (text.trim() === '') continue;
      await index(port(), tenant, { [text]: { text, k: `x ${text} y` }, plain: 'zzz' });
      const found = await find(port(), tenant, text, { filter: isEqual(['text'], text) });
      assert.deepEqual(
        found.map(({ id }) => id),
        [text],
        JSON.stringify(text),
      );
      await port().delete({ index: 'i', ids: [text] }, write(tenant));
    }
    assert.deepEqual(await ids(find(port(), tenant, 'zzz')), ['plain']);
    for (const name of HOSTILE_TEXTS.slice(0, 10)) {
      await index(port(), tenant, { a: 'text' }, name);
      assert.deepEqual(await ids(find(port(), tenant, 'text', { name })), ['a']);
    }
  });
}

function writes(port: () => SearchPort): void {
  test('indexing again replaces; deleting removes; an empty index finds nothing', async () => {
    const tenant = freshTenant();
    await index(port(), tenant, { a: 'first text', b: 'stays' });
    await index(port(), tenant, { a: 'second version' });
    assert.deepEqual(await ids(find(port(), tenant, 'first')), []);
    assert.deepEqual(await ids(find(port(), tenant, 'irst')), []);
    assert.deepEqual(await ids(find(port(), tenant, 'second ersio')), ['a']);
    const gone = await port().delete({ index: 'i', ids: ['a', 'a', 'x'] }, write(tenant));
    assert.deepEqual(gone, { deleted: 1 });
    assert.deepEqual(await ids(find(port(), tenant, 'second')), []);
    await port().delete({ index: 'i', ids: ['b'] }, write(tenant));
    assert.deepEqual(await ids(find(port(), tenant, 'stays')), []);
    const same = [1, 2].map((n) => ({ id: 'a', fields: { text: `number${n}` } }));
    await port().index({ index: 'i', documents: same }, write(tenant));
    assert.deepEqual(await ids(find(port(), tenant, 'number*')), ['a']);
    assert.deepEqual(await ids(find(port(), tenant, 'number1')), []);
  });

  test('an unknown index is named', async () => {
    const unknown = { code: 'search_index_not_found', message: /"i"/ };
    await assert.rejects(find(port(), freshTenant(), 'x'), unknown);
    await assert.rejects(port().delete({ index: 'i', ids: ['a'] }, write(freshTenant())), unknown);
  });
}

function once(port: () => SearchPort): void {
  test('I3: one invocation acts once and is answered alike; another in its place is refused', async () => {
    const tenant = freshTenant();
    const call = write(tenant, { id: 'same', method: 'searchIndex.index', input: 1 });
    const first = { index: 'i', documents: [{ id: 'a', fields: { text: 'x' } }] };
    await port().index(first, call);
    await port().delete({ index: 'i', ids: ['a'] }, write(tenant));
    assert.deepEqual(await port().index(first, { ...call, now: NOW + 60_000 }), { indexed: 1 });
    assert.deepEqual(await ids(find(port(), tenant, 'x')), []);
    const otherInput = write(tenant, { id: 'same', method: 'searchIndex.index', input: 2 });
    assert.deepEqual(await port().index(first, otherInput), { indexed: 1 });
    const other = write(tenant, { id: 'same', method: 'searchIndex.delete', input: 1 });
    await assert.rejects(port().index(first, other), { code: 'idempotency_key_mismatch' });
  });

  test('I4: documents that are indexed at once are all found', async () => {
    const tenant = freshTenant();
    const many = Array.from({ length: 20 }, (_, n) => ({ [`d${n}`]: 'word', same: `word ${n}` }));
    await Promise.all(many.map((texts) => index(port(), tenant, texts)));
    assert.equal((await find(port(), tenant, 'word', { k: 100 })).length, 21);
  });
}

function limits(port: () => SearchPort): void {
  const { documentsMax, indexesMax, quotaBytes } = SEARCH_CONTRACT_LIMITS;
  test('a full index or tenant is refused whole, another tenant is not; deleting makes room', async () => {
    const tenant = freshTenant();
    const fill = Array.from({ length: documentsMax }, (_, n) => [`d${n}`, 'x'] as const);
    await index(port(), tenant, Object.fromEntries(fill));
    await assert.rejects(index(port(), tenant, { more: 'x' }), {
      code: 'conflict',
      details: { documentsMax },
    });
    assert.equal((await find(port(), tenant, 'more')).length, 0);
    await index(port(), tenant, { d0: 'y' });
    const large = 'word '.repeat(quotaBytes / 10);
    await index(port(), tenant, { a: large }, 'large');
    await assert.rejects(index(port(), tenant, { b: large }, 'large'), { details: { quotaBytes } });
    await index(port(), freshTenant(), { b: large }, 'large');
    await port().delete({ index: 'large', ids: ['a'] }, write(tenant));
    await index(port(), tenant, { b: large }, 'large');
  });

  test('indexes are counted; empty ones make room', async () => {
    const tenant = freshTenant();
    for (let n = 0; n < indexesMax; n++) await index(port(), tenant, { a: 'x' }, `i${n}`);
    await assert.rejects(index(port(), tenant, { a: 'x' }), { details: { indexesMax } });
    const other = freshTenant();
    const tries = Array.from({ length: indexesMax + 8 }, (_, n) => index(port(), other, { a: 'x' }, `i${n}`));
    const made = (await Promise.allSettled(tries)).filter(({ status }) => status === 'fulfilled').length;
    assert.equal(made, indexesMax, 'nor do those who make one at once pass the bound together');
    await port().delete({ index: 'i7', ids: ['a'] }, write(tenant));
    await index(port(), tenant, { a: 'x' });
    await assert.rejects(find(port(), tenant, 'x', { name: 'i7' }), { code: 'search_index_not_found' });
    assert.deepEqual(await ids(find(port(), tenant, 'x', { name: 'i8' })), ['a']);
  });
}
