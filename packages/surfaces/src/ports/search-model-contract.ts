/** The search port beside BM25 computed from all documents. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { EVERYTHING } from '../capabilities/documents/filter.ts';
import { parseQuery } from '../capabilities/search/parse-query.ts';
import { fold, wordsOf, wordsOfFields } from '../capabilities/search/words.ts';
import { freshTenant, read, write } from '../testing/calls.ts';
import type { SearchDocument, SearchPort } from './search.ts';

const [K1, B] = [1.2, 0.75];

/** Scores of documents that have one of the words. */
function bm25(documents: readonly SearchDocument[], words: readonly string[]): Map<string, number> {
  const texts = new Map(documents.map(({ id, fields }) => [id, wordsOfFields(fields)]));
  const lengths = [...texts.values()].map(({ length }) => length);
  const average = lengths.reduce((sum, length) => sum + length, 0) / texts.size;
  const times = (text: readonly string[], word: string): number =>
    text.filter((each) => each === word).length;
  const idfOf = (word: string): number => {
    const having = [...texts.values()].filter((text) => text.includes(word)).length;
    return Math.max(1e-6, Math.log((texts.size - having + 0.5) / (having + 0.5)));
  };
  const partOf = (text: readonly string[], word: string): number => {
    const count = times(text, word);
    return (idfOf(word) * count * (K1 + 1)) / (count + K1 * (1 - B + (B * text.length) / average));
  };
  const found = [...texts].filter(([, text]) => words.some((word) => text.includes(word)));
  return new Map(found.map(([id, text]) => [id, words.reduce((sum, word) => sum + partOf(text, word), 0)]));
}

const word = fc.constantFrom('ada', 'bob', 'cat', 'dog', 'eel', 'fox', 'gnu', 'hen');
const text = fc.array(word, { minLength: 1, maxLength: 12 }).map((words) => words.join(' '));
const DOCUMENTS_MAX = 15;
const corpus = fc.array(fc.record({ title: text, body: text }), { minLength: 1, maxLength: DOCUMENTS_MAX });

/** What was replaced or deleted before counts no more. */
export async function searchRanking(port: SearchPort): Promise<void> {
  const tenant = freshTenant();
  const asked = fc.uniqueArray(word, { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(corpus, asked, async (texts, words) => {
      const documents = texts.map((fields, index) => ({ id: `d${index}`, fields }));
      await port.index({ index: 'i', documents }, write(tenant));
      const gone = Array.from(
        { length: DOCUMENTS_MAX - texts.length },
        (_, index) => `d${texts.length + index}`,
      );
      await port.delete({ index: 'i', ids: gone }, write(tenant));
      const query = parseQuery(words.join(' '));
      const hits = await port.query({ index: 'i', query, k: 100, filter: EVERYTHING }, read(tenant));
      const expected = bm25(documents, words.flatMap(wordsOf));
      assert.deepEqual(new Set(hits.map(({ id }) => id)), new Set(expected.keys()));
      for (const [place, { id, score }] of hits.entries()) {
        const wanted = expected.get(id)!;
        assert.ok(Math.abs(score - wanted) <= 1e-4 * wanted, `${id} scores ${score}, not ${wanted}`);
        assert.ok(score > 0 && score <= (hits[place - 1]?.score ?? Number.POSITIVE_INFINITY));
      }
    }),
    { numRuns: 40 },
  );
}

const anyText = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
  .filter((each) => fold(each).trim() !== '' && !each.includes('\0') && each.isWellFormed());

/** Any part of any field finds its document. */
export async function searchParts(port: SearchPort): Promise<void> {
  const tenant = freshTenant();
  const places = fc.tuple(fc.nat(), fc.nat());
  await fc.assert(
    fc.asyncProperty(anyText, anyText, places, async (field, other, [from, length]) => {
      const characters = Array.from(field);
      const start = from % characters.length;
      const part = characters.slice(start, start + 1 + (length % characters.length)).join('');
      if (fold(part).trim() === '') return;
      const documents = [
        { id: 'a', fields: { other, field } },
        { id: 'b', fields: { other: 'nothing' } },
      ];
      await port.index({ index: 'i', documents }, write(tenant));
      const query = parseQuery(part);
      const hits = await port.query({ index: 'i', query, k: 10, filter: EVERYTHING }, read(tenant));
      const hit = hits.find(({ id }) => id === 'a');
      assert.ok(hit && hit.score > 0, JSON.stringify({ part, field }));
    }),
    { numRuns: 60 },
  );
}
