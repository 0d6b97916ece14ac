import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { foldedFields } from '../capabilities/search/words.ts';
import { batchesOf, gramHashes, lexemesOf, searchRows } from './search-indexes.ts';

/** FNV-1a over the UTF-8 of the index and the gram, as data has it that is already there. */
function hashOf(index: number, gram: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(`${index}/${gram}`)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash | 0;
}

test('a gram has the number that data which is already there has for it', () => {
  const text = fc.string({ unit: 'binary', maxLength: 60 }).filter((each) => each.isWellFormed());
  fc.assert(
    fc.property(fc.nat(), text, (id, folded) => {
      const characters = Array.from(folded);
      const grams = characters.slice(2).map((_, at) => characters.slice(at, at + 3).join(''));
      assert.deepEqual(
        [...gramHashes({ id }, folded)].toSorted(),
        [...new Set(grams.map((gram) => hashOf(id, gram)))].toSorted(),
      );
    }),
  );
});

test('a word has its first places, as many as PostgreSQL keeps', () => {
  assert.equal(lexemesOf({ id: 7 }, ['b', 'a', 'b']).trim(), "'7/b':1,3 '7/a':2");
  const places = lexemesOf({ id: 7 }, Array(1_000).fill('a')).split(',');
  assert.deepEqual([places.length, places.at(-1)?.trim()], [256, '256']);
});

const documentsOf = (many: number, characters: number) =>
  Array.from({ length: many }, (_, index) => {
    const text = Array.from({ length: characters }, (_, at) =>
      String.fromCodePoint(0x4e00 + ((index + at * 7_919) % 20_000)),
    );
    return { id: `d${index}`, fields: { text: text.join('') } };
  });

test('others have their turn between documents, and within a large one', async () => {
  let [turns, isOver] = [0, false];
  const others = (async () => {
    for (; !isOver; turns++) await new Promise(setImmediate);
  })();
  const documents = documentsOf(8, 21_000);
  const rows = await searchRows({ id: 1 }, documents);
  isOver = true;
  await others;
  assert.deepEqual(
    rows.map(({ folded }) => folded),
    documents.map(({ fields }) => foldedFields(fields)),
  );
  assert.ok(turns >= documents.length, `${turns} turns`);
});

test('a statement holds many small documents, or one that is large', async () => {
  const small = await searchRows({ id: 1 }, documentsOf(50, 10));
  assert.deepEqual(batchesOf(small), [small]);
  const large = await searchRows({ id: 1 }, documentsOf(3, 21_000));
  assert.deepEqual(
    batchesOf(large),
    large.map((row) => [row]),
  );
  assert.deepEqual(batchesOf([]), []);
});
