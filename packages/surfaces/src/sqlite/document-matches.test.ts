/** A change is of exactly those documents that match when it is made, however they were found. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { propertyRuns } from '../../../protocol/src/testing/property-runs.ts';
import { EVERYTHING, isEqual } from '../capabilities/documents/filter.ts';
import { NOSQL_LIMITS } from '../capabilities/nosql/surface.ts';
import type { WhenNone } from '../ports/documents.ts';
import { read, write } from '../testing/calls.ts';
import { freshFolder } from '../testing/data-dir.ts';
import { openEmbeddedDatabase } from './database.ts';
import { factsOf } from './database-files.ts';
import { RecentChanges } from './document-changes.ts';
import { documentsArea, embeddedDocuments } from './documents.ts';
import { openForWriting } from './open-file.ts';

function dataDir(t: TestContext): string {
  const folder = freshFolder();
  t.after(folder.remove);
  return folder.path;
}

const doc = (id: number, n: number) => ({ id: `d${id}`, document: { id: `d${id}`, n } });
const ONES = { filter: isEqual(['n'], 1), matchesMax: 100 };
const ANSWER: WhenNone = { do: 'answer' };

const step = fc.tuple(fc.constantFrom('put', 'remove', 'undo'), fc.nat({ max: 9 }), fc.nat({ max: 1 }));

test('what a scan found is brought up to date, whatever happened since', (t) => {
  const database = openForWriting(factsOf({ file: 'surfaces', dataDir: dataDir(t), extensions: [] }));
  t.after(() => database.close());
  const [reads, writes] = [documentsArea.reads(database), documentsArea.writes(database)];
  let tenants = 0;
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), fc.array(step, { maxLength: 20 }), (before, after) => {
      const place = { tenant: `t${tenants++}`, space: 's', collection: 'c' };
      const model = new Map<string, number>();
      const take = ([what, id, n]: (typeof before)[number]) => {
        const filter = { kind: 'id', ids: [`d${id}`] } as const;
        const insert: WhenNone = { do: 'insert', ...doc(id, n), typed: false, indexes: [] };
        const change = { filter, matchesMax: 1, patch: { n }, whenNone: insert };
        database.exec('savepoint step');
        if (what === 'remove') writes.delete(place, { filter, matchesMax: 1 }, null, NOSQL_LIMITS);
        else writes.patch(place, change, null, NOSQL_LIMITS);
        if (what === 'undo') database.exec('rollback to step');
        else if (what === 'remove') model.delete(`d${id}`);
        else model.set(`d${id}`, n);
        database.exec('release step');
      };
      before.forEach(take);
      const mark = writes.mark();
      const found = reads.match(place, { ...ONES, bytesMax: 1e6 });
      after.forEach(take);
      const ones = [...model].filter(([, n]) => n === 1).length;
      const scanned = { mark, ...found };
      assert.deepEqual(writes.delete(place, ONES, scanned, NOSQL_LIMITS), { deleted: ones });
      assert.equal(reads.count(place, EVERYTHING, NOSQL_LIMITS), model.size - ones);
    }),
    { numRuns: propertyRuns(200) },
  );
});

/** More than the writer looks through by itself. */
async function wide(t: TestContext) {
  const database = await openEmbeddedDatabase({ dataDir: dataDir(t) });
  t.after(() => database.close());
  const port = embeddedDocuments(database, NOSQL_LIMITS);
  const place = { space: 's', collection: 'c' };
  const documents = Array.from({ length: 1_500 }, (_, id) => doc(id, id % 3));
  await port.insert({ ...place, documents, typed: false }, write('acme'));
  return { port, place };
}

test('of upserts that come at once and look through much, one inserts', async (t) => {
  const { port, place } = await wide(t);
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, id) => {
      const whenNone: WhenNone = { do: 'insert', ...doc(9_000 + id, 77), typed: false, indexes: [] };
      const change = { ...place, filter: isEqual(['n'], 77), matchesMax: 1, patch: { m: id } };
      return port.patch({ ...change, whenNone }, write('acme'));
    }),
  );
  assert.equal(answers.filter(({ matched }) => matched === 0).length, 1);
  assert.equal(new Set(answers.map(({ id }) => id)).size, 1);
});

test('a call on record is answered from it, also when what it looked for is gone or too much', async (t) => {
  const { port, place } = await wide(t);
  const call = write('acme');
  const removal = { ...place, filter: isEqual(['n'], 1), matchesMax: 500 };
  assert.deepEqual(await port.delete(removal, call), { deleted: 500 });
  const change = { ...place, filter: isEqual(['n'], 2), matchesMax: 500, patch: { n: 1 }, whenNone: ANSWER };
  assert.equal((await port.patch(change, write('acme'))).modified, 500);
  await port.insert({ ...place, documents: [doc(9_999, 1)], typed: false }, write('acme'));
  assert.deepEqual(
    await port.delete(removal, call),
    { deleted: 500 },
    'it would be 501 now, which are too many',
  );
  await assert.rejects(port.delete(removal, write('acme')), {
    code: 'validation_error',
    message: /More than 500/,
  });
  assert.equal(await port.count({ ...place, filter: removal.filter }, read('acme')), 501);
});

test('a scan refuses too much, and what it found in a collection that is gone is not looked for in the next', (t) => {
  const database = openForWriting(factsOf({ file: 'surfaces', dataDir: dataDir(t), extensions: [] }));
  t.after(() => database.close());
  const [reads, writes] = [documentsArea.reads(database), documentsArea.writes(database)];
  const limits = { ...NOSQL_LIMITS, collectionsMax: 2 };
  const at = (collection: string) => ({ tenant: 't', space: 's', collection });
  const insert = (collection: string) =>
    writes.insert(at(collection), { documents: [doc(1, 1)], typed: false }, limits);
  insert('c');
  assert.throws(() => reads.match(at('c'), { ...ONES, bytesMax: 10 }), {
    code: 'validation_error',
    message: /^More than 10 bytes match/,
  });
  const scanned = { mark: writes.mark(), ...reads.match(at('c'), { ...ONES, bytesMax: 1e6 }) };
  writes.delete(at('c'), ONES, null, limits);
  for (const collection of ['d', 'e', 'c']) {
    if (collection === 'c') writes.delete(at('d'), ONES, null, limits);
    insert(collection);
  }
  const change = { ...ONES, patch: { n: 2 }, whenNone: ANSWER };
  assert.deepEqual(writes.patch(at('c'), change, scanned, limits), { matched: 1, modified: 1, id: 'd1' });
});

test('changes are known as long as they are kept, and those of another writer are not', () => {
  const changes = new RecentChanges();
  const { mark } = changes;
  changes.note(1, 10);
  changes.note(2, 20);
  assert.deepEqual(changes.since(mark, 1), new Set([10]));
  assert.deepEqual(changes.since(changes.mark, 1), new Set());
  assert.equal(changes.since(changes.mark + 1, 1), null);
  for (let seq = 0; seq < 200_000; seq++) changes.note(3, seq);
  assert.equal(changes.since(mark, 1), null);
  const late = changes.mark - 60_000;
  assert.equal(changes.since(late, 3)?.size, 60_000);
});
