/** How many documents, collections and bytes a tenant has, and how documents are measured. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@gantry/protocol';
import { EVERYTHING, isEqual } from '../capabilities/documents/filter.ts';
import { freshTenant, read, write } from '../testing/calls.ts';
import type { DocumentLimits, DocumentsPort, WhenNone } from './documents.ts';

const C = { space: 'test', collection: 'c' };
const all = { ...C, filter: EVERYTHING, sort: [], after: null, limit: 100 };
const full = { code: 'table_row_limit_reached' };
const ANSWER: WhenNone = { do: 'answer' };
const doc = (id: string, members: JsonObject = {}) => ({ id, document: { id, ...members } });
const inserting = (...documents: { id: string; document: JsonObject }[]) => ({
  ...C,
  documents,
  typed: false,
});
const matching = (filter: typeof EVERYTHING, matchesMax = 100) => ({ ...C, filter, matchesMax });
const keptOf = (answers: readonly PromiseSettledResult<unknown>[]): number =>
  answers.filter(({ status }) => status === 'fulfilled').length;

export function roomTests(port: () => DocumentsPort, limits: DocumentLimits): void {
  bounds(port, limits);
  atOnce(port, limits);
  measure(port, limits);
}

function bounds(port: () => DocumentsPort, limits: DocumentLimits): void {
  const { documentsMax, collectionsMax } = limits;
  const many = (count: number, from = 0) =>
    inserting(...Array.from({ length: count }, (_, index) => doc(`d${from + index}`)));

  test('a collection holds so many documents, also when they come at once', async () => {
    const tenant = freshTenant();
    await port().insert(many(documentsMax - 1), write(tenant));
    const last = await Promise.allSettled(
      [0, 1, 2].map((index) => port().insert(many(1, 100 + index), write(tenant))),
    );
    assert.equal(last.filter(({ status }) => status === 'fulfilled').length, 1);
    await assert.rejects(port().insert(many(1, 200), write(tenant)), full);
    await port().delete(matching(isEqual(['id'], 'd0')), write(tenant));
    await port().insert(many(1, 200), write(tenant));
    assert.equal(await port().count(all, read(tenant)), documentsMax);
  });

  test('a tenant has so many collections and bytes; what is deleted makes room', async () => {
    const tenant = freshTenant();
    const into = (collection: string, id: string, text = '') =>
      port().insert({ ...inserting(doc(id, { text })), collection }, write(tenant));
    for (let index = 0; index < collectionsMax; index++) await into(`c${index}`, 'a');
    await assert.rejects(into('one-more', 'a'), full);
    const last = { space: C.space, collection: `c${collectionsMax - 1}` };
    await port().delete({ ...last, filter: EVERYTHING, matchesMax: 1 }, write(tenant));
    await into('one-more', 'a');
    await assert.rejects(into(last.collection, 'a'), full, 'an empty one made room');
    const text = 'x'.repeat(1_600);
    for (let index = 0; index < 12; index++) await into('c0', `t${index}`, text);
    await assert.rejects(into('c1', 'u1', text), full);
    const change = { space: C.space, collection: 'c0', matchesMax: 1 };
    await port().delete({ ...change, filter: isEqual(['id'], 't0') }, write(tenant));
    await into('c1', 'u1', text);
    const grow = { ...change, filter: isEqual(['id'], 'a'), patch: { text }, whenNone: ANSWER };
    await assert.rejects(port().patch(grow, write(tenant)), full);
  });
}

function atOnce(port: () => DocumentsPort, { collectionsMax, quotaBytes }: DocumentLimits): void {
  const into = (tenant: string, collection: string, ...texts: string[]) =>
    port().insert(
      { ...inserting(...texts.map((text, index) => doc(`d${index}`, { text }))), collection },
      write(tenant),
    );

  test('I4: writers of different collections at once keep to the bytes of their tenant', async () => {
    const tenant = freshTenant();
    for (let index = 0; index < collectionsMax; index++) await into(tenant, `c${index}`);
    const texts = Array.from({ length: 8 }, () => 'x'.repeat(quotaBytes / 15));
    const inserts = Array.from({ length: collectionsMax }, (_, index) => into(tenant, `c${index}`, ...texts));
    assert.equal(keptOf(await Promise.allSettled(inserts)), 1);
  });

  test('I4: patches of different collections at once keep to them too', async () => {
    const tenant = freshTenant();
    for (let index = 0; index < collectionsMax; index++)
      await into(tenant, `c${index}`, ...Array.from({ length: 8 }, () => ''));
    const patches = Array.from({ length: collectionsMax }, (_, index) => {
      const change = { ...matching(EVERYTHING), patch: { text: 'x'.repeat(quotaBytes / 15) } };
      return port().patch({ ...change, collection: `c${index}`, whenNone: ANSWER }, write(tenant));
    });
    assert.equal(keptOf(await Promise.allSettled(patches)), 1);
  });

  test('I4: writers that make collections at once make no more than there may be', async () => {
    const tenant = freshTenant();
    const inserts = Array.from({ length: collectionsMax * 3 }, (_, index) => into(tenant, `c${index}`, ''));
    assert.equal(keptOf(await Promise.allSettled(inserts)), collectionsMax);
  });
}

function measure(port: () => DocumentsPort, { documentBytesMax }: DocumentLimits): void {
  const text = (length: number): JsonObject => ({ text: 'x'.repeat(length) });
  const grown = async (start: JsonObject) => {
    const tenant = freshTenant();
    const { id, document } = doc('a', start);
    await port().insert(inserting({ id, document }), write(tenant));
    const room = documentBytesMax - Buffer.byteLength(JSON.stringify({ ...document, text: '' }));
    const patch = (length: number) =>
      port().patch({ ...matching(EVERYTHING), patch: text(length), whenNone: ANSWER }, write(tenant));
    await assert.rejects(patch(room + 1), { code: 'validation_error' });
    assert.deepEqual(await port().get({ ...C, id: 'a' }, read(tenant)), document);
    assert.equal((await patch(room)).modified, 1);
  };

  test('a document grows up to its limit, measured by its JSON without spaces', async () => {
    await grown({});
    await grown({ list: Array.from({ length: 700 }, () => 1), o: { a: { b: 'a, b: c' } } });
  });

  test('long numbers and escapes count as JSON writes them', async () => {
    await grown({ list: Array.from({ length: 150 }, () => 1e300), small: 1e-9, t: 'é"\\\n'.repeat(20) });
  });

  test('what a patch has counted is what is there', async () => {
    const tenant = freshTenant();
    const lists = Array.from({ length: 10 }, (_, index) =>
      doc(`d${index}`, { list: Array.from({ length: 900 }, () => 1) }),
    );
    await port().insert(inserting(...lists), write(tenant));
    const change = { ...matching(EVERYTHING), whenNone: ANSWER };
    assert.equal((await port().patch({ ...change, patch: { n: 1 } }, write(tenant))).modified, 10);
    assert.equal((await port().patch({ ...change, patch: { n: 1 } }, write(tenant))).modified, 0);
    await port().delete(change, write(tenant));
    const used = Array.from({ length: 10 }, (_, index) => doc(`d${index}`, text(1_960)));
    await port().insert(inserting(...used), write(tenant));
    await assert.rejects(port().insert(inserting(doc('more', text(400))), write(tenant)), full);
  });
}
