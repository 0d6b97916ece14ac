/** Indexes are filled in steps, and changes write only the cells that differ. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { EVERYTHING, isEqual } from '../capabilities/documents/filter.ts';
import { TABLE_LIMITS } from '../capabilities/table/surface.ts';
import { freshFolder } from '../testing/data-dir.ts';
import { factsOf } from './database-files.ts';
import { FILL } from './document-indexes.ts';
import { documentsArea } from './documents.ts';
import { openForWriting } from './open-file.ts';

const place = { tenant: 't', space: 's', collection: 'c' };
const ALL = 2_500;

const row = (id: number) => ({ id: `d${id}`, document: { id: `d${id}`, a: id % 7, b: `v${id}`, note: 'x' } });
const rows = (from: number, many: number) => Array.from({ length: many }, (_, index) => row(from + index));

function opened(t: TestContext) {
  const folder = freshFolder();
  const database = openForWriting(factsOf({ file: 'surfaces', dataDir: folder.path, extensions: [] }));
  t.after(() => {
    database.close();
    folder.remove();
  });
  database.exec('begin');
  const [reads, writes] = [documentsArea.reads(database), documentsArea.writes(database)];
  const insert = (from: number, many: number) =>
    writes.insert(place, { documents: rows(from, many), typed: true }, TABLE_LIMITS);
  const declare = () => {
    const { columns } = reads.describe(place) ?? assert.fail();
    assert.ok(columns);
    writes.declare(place, { columns: { ...columns, closed: true }, indexes: ['a', 'b'] }, TABLE_LIMITS);
  };
  const counted = (sql: string): number => Number(database.prepare(sql).get()?.many);
  return { database, reads, writes, insert, declare, counted };
}

/** Cells that are there and should not be, or the other way round. */
const WRONG_CELLS = `
  select count(*) as many from
    (select * from (select collection, field, value, seq from cells except select collection, field, value, seq from cells_of_documents)
    union all
    select * from (select collection, field, value, seq from cells_of_documents except select collection, field, value, seq from cells))
`;

test('an index is used when all its cells are there; who asks next goes on where filling stopped', (t) => {
  const { reads, writes, insert, declare, counted } = opened(t);
  insert(0, ALL);
  declare();
  assert.equal(counted('select count(*) as many from cells'), 2_000, 'one step of two fields');
  assert.deepEqual(reads.describe(place)?.indexes, []);
  assert.equal(reads.count(place, isEqual(['b'], 'v2400'), TABLE_LIMITS), 1, 'found without the index');
  declare();
  assert.equal(counted('select count(*) as many from cells'), 2_000, 'declaring again begins nothing anew');
  assert.equal(writes.fill(place), false);
  assert.equal(writes.fill(place), true);
  assert.deepEqual(reads.describe(place)?.indexes, ['a', 'b']);
  assert.equal(counted(WRONG_CELLS), 0);
  assert.equal(writes.fill(place), true);
  assert.equal(writes.fill({ ...place, collection: 'none' }), true);
});

test('a small collection is indexed at once', (t) => {
  const { reads, insert, declare } = opened(t);
  insert(0, 10);
  declare();
  assert.deepEqual(reads.describe(place)?.indexes, ['a', 'b']);
});

const step = fc.tuple(fc.constantFrom('insert', 'patch', 'delete'), fc.nat({ max: ALL - 1 }));

test('whatever is written between the steps, the cells are those of the documents', (t) => {
  const { database, writes, insert, declare, counted } = opened(t);
  insert(0, ALL);
  let next = ALL;
  fc.assert(
    fc.property(fc.array(step, { maxLength: 8 }), fc.array(step, { maxLength: 8 }), (first, second) => {
      database.exec('savepoint run');
      const take = ([what, id]: (typeof first)[number]): void => {
        const change = { filter: { kind: 'id', ids: [`d${id}`] } as const, matchesMax: 1 };
        if (what === 'insert') insert(next++, 1);
        if (what === 'delete') writes.delete(place, change, null, TABLE_LIMITS);
        if (what !== 'patch') return;
        writes.patch(place, { ...change, patch: { a: id }, whenNone: { do: 'answer' } }, null, TABLE_LIMITS);
      };
      declare();
      first.forEach(take);
      writes.fill(place);
      second.forEach(take);
      while (!writes.fill(place));
      assert.equal(counted(WRONG_CELLS), 0);
      database.exec('rollback to run; release run');
    }),
    { numRuns: 6 },
  );
});

test('a step reads its own documents', (t) => {
  const { database } = opened(t);
  const plan = database.prepare(`explain query plan ${FILL}`).all(1, 1, 2, '[]');
  const ownDocuments = 'SEARCH documents USING INDEX documents_in_order (collection=? AND seq>? AND seq<?)';
  assert.ok(plan.some(({ detail }) => detail === ownDocuments));
});

test('a change writes the cells that differ and no others', (t) => {
  const { database, writes, insert, declare, counted } = opened(t);
  insert(0, 10);
  declare();
  const written = (patch: Record<string, string | number>): number => {
    const before = counted('select total_changes() as many');
    const change = { filter: isEqual(['a'], 3), matchesMax: 1, patch, whenNone: { do: 'answer' } } as const;
    assert.equal(writes.patch(place, change, null, TABLE_LIMITS).modified, 1);
    return counted('select total_changes() as many') - before;
  };
  const [document, usage, cell] = [1, 1, 2];
  assert.equal(written({ note: 'other' }), document + usage);
  assert.equal(written({ b: 'other' }), document + usage + cell);
  assert.equal(written({ b: 'again', a: 9 }), document + usage + 2 * cell);
  assert.equal(counted(WRONG_CELLS), 0);
  database.exec('delete from documents');
  assert.equal(counted('select count(*) as many from cells'), 0);
});

test('many that are deleted are gone at once, and their cells in steps; few take their cells along', (t) => {
  const { reads, writes, insert, declare, counted } = opened(t);
  insert(0, ALL);
  declare();
  while (!writes.fill(place));
  const cells = () => counted('select count(*) as many from cells');
  const few = writes.delete(
    place,
    { filter: isEqual(['a'], 3), matchesMax: ALL },
    null,
    TABLE_LIMITS,
  ).deleted;
  assert.equal(cells(), 2 * (ALL - few));
  writes.delete(place, { filter: EVERYTHING, matchesMax: ALL }, null, TABLE_LIMITS);
  assert.equal(reads.describe(place)?.documents, 0);
  for (const filter of [isEqual(['a'], 5), isEqual(['b'], 'v7')]) {
    assert.equal(reads.count(place, filter, TABLE_LIMITS), 0);
    assert.deepEqual(reads.match(place, { filter, matchesMax: 9, bytesMax: 1e6 }).matches, []);
  }
  insert(0, 7);
  assert.equal(reads.count(place, isEqual(['a'], 5), TABLE_LIMITS), 1, 'the same values again');
  assert.equal(cells(), 2 * (ALL - few + 7), 'left for steps');
  assert.equal(writes.dropCells(), false);
  assert.equal(cells(), 2 * (ALL - few + 7) - 4_000);
  assert.equal(writes.dropCells(), true);
  assert.equal(counted(WRONG_CELLS), 0);
  assert.equal(counted('select count(*) as many from cells_gone'), 0);
});
