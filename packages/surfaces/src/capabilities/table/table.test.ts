/** `ctx.storage.table` as pack code meets it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Data } from '../../calls/data.ts';
import { embeddedCallGate } from '../../testing/embedded-call-gate.ts';
import { nodeOf, type TestCallGate } from '../../testing/test-call-gate.ts';

type Answer = { [name: string]: Data };
let node = 0;
const once = async (world: TestCallGate, method: string, input: Data, tenant = 'acme') =>
  (await nodeOf(world, { nodeId: `node-${++node}`, tenant })(`storage.table.${method}`, input)) as Answer;

const people = [
  { id: 'p1', name: 'Ada', age: 36, admin: true },
  { id: 'p2', name: 'Bob', age: 17, admin: false },
  { id: 'p3', name: 'Cy', age: 64, admin: false },
];

async function withPeople(): Promise<TestCallGate> {
  const world = await embeddedCallGate();
  for (const row of people) await once(world, 'insert', { table: 'people', row });
  return world;
}

const idsOf = ({ rows }: Answer): Data[] => (rows as { id: string }[]).map(({ id }) => id);

describe('the six methods of the contract', () => {
  test('create, insert, get, query, update, delete', async () => {
    const world = await embeddedCallGate();
    const schema = { name: 'string', age: 'number' };
    assert.deepEqual(await once(world, 'createTable', { name: 't', schema, indexes: ['name'] }), {
      ok: true,
    });
    const { rowId } = await once(world, 'insert', { table: 't', row: { name: 'Ada', age: 36 } });
    assert.equal(typeof rowId, 'string');
    const row = { id: rowId, name: 'Ada', age: 36 };
    assert.deepEqual(await once(world, 'get', { table: 't', rowId: rowId! }), { row });
    assert.deepEqual(await once(world, 'update', { table: 't', rowId: rowId!, patch: { age: 37 } }), {
      ok: true,
    });
    assert.deepEqual(await once(world, 'query', { table: 't', filter: { name: 'Ada' } }), {
      rows: [{ ...row, age: 37 }],
    });
    assert.deepEqual(await once(world, 'delete', { table: 't', rowId: rowId! }), { deleted: true });
    assert.deepEqual(await once(world, 'delete', { table: 't', rowId: rowId! }), { deleted: false });
    assert.deepEqual(await once(world, 'get', { table: 't', rowId: rowId! }), {});
  });

  test('a row is found by its id, also when that is a number', async () => {
    const world = await embeddedCallGate();
    assert.equal((await once(world, 'insert', { table: 't', row: { id: 5, n: 1 } })).rowId, '5');
    await once(world, 'update', { table: 't', rowId: '5', patch: { n: 2, id: 5 } });
    assert.deepEqual(await once(world, 'get', { table: 't', rowId: '5' }), { row: { id: 5, n: 2 } });
    await assert.rejects(once(world, 'update', { table: 't', rowId: '5', patch: { id: 6 } }), {
      code: 'validation_error',
    });
    await assert.rejects(once(world, 'insert', { table: 't', row: { id: 5, n: 1 } }), { code: 'conflict' });
    for (const id of [5, '5'])
      assert.deepEqual(idsOf(await once(world, 'query', { table: 't', filter: { id } })), [5]);
    await assert.rejects(once(world, 'insert', { table: 't', row: { n: 1 } }), {
      code: 'table_schema_violation',
      message: /ids of this table are of the type number. Give/,
    });
  });

  test('what is not there: a table, a row', async () => {
    const world = await withPeople();
    const change = (table: string) => once(world, 'update', { table, rowId: 'x', patch: { age: 1 } });
    const absent = { code: 'table_not_found', details: { table: 'none' } };
    await assert.rejects(once(world, 'query', { table: 'none', filter: {} }), absent);
    await assert.rejects(change('none'), absent);
    assert.deepEqual(await once(world, 'get', { table: 'people', rowId: 'x' }), {});
    await assert.rejects(change('people'), { code: 'not_found' });
  });
});

describe('as published packs call it', () => {
  test('update and delete by filter, upsert by keys, count', async () => {
    const world = await withPeople();
    const table = 'people';
    const minors = { age: { $lt: 18 } };
    assert.deepEqual(await once(world, 'count', { table, filter: minors }), { count: 1 });
    assert.deepEqual(await once(world, 'update', { table, filter: minors, update: { age: 18 } }), {
      updated: 1,
    });
    const upsert = (row: Answer) => once(world, 'upsert', { table, keyColumns: ['name'], row });
    const { id } = await upsert({ name: 'Di', age: 20 });
    assert.deepEqual(await upsert({ name: 'Di', age: 21 }), {
      id,
      rowId: id,
      inserted: false,
      updated: true,
    });
    assert.deepEqual((await once(world, 'get', { table, rowId: id! })).row, { id, name: 'Di', age: 21 });
    assert.deepEqual(await once(world, 'delete', { table, filter: { age: { $gte: 36 } } }), { deleted: 2 });
    assert.deepEqual(await once(world, 'count', { table }), { count: 2 });
  });

  test('orderBy walks forwards and backwards', async () => {
    const world = await withPeople();
    const by = async (...orderBy: string[]) =>
      idsOf(await once(world, 'query', { table: 'people', orderBy }));
    assert.deepEqual(await by('age'), ['p2', 'p1', 'p3']);
    assert.deepEqual(await by('-age'), ['p3', 'p1', 'p2']);
    assert.deepEqual(await by('admin', 'age DESC'), ['p3', 'p2', 'p1']);
    for (const odd of ['$a', '', 'a..b', 'a"b', 'age; drop table documents'])
      await by(odd).then(
        (ids) => assert.equal(ids.length, 3, odd),
        (error) => assert.equal(error.code, 'validation_error', odd),
      );
    assert.equal((await once(world, 'count', { table: 'people' })).count, 3);
  });

  test('a row and a filter together are refused, and nothing is changed', async () => {
    const world = await withPeople();
    const both = { code: 'validation_error', message: /both `rowId` and `filter`/ };
    const at = { table: 'people', rowId: 'p1', filter: {} };
    await assert.rejects(once(world, 'delete', at), both);
    await assert.rejects(once(world, 'update', { ...at, update: { age: 0 } }), both);
    await assert.rejects(once(world, 'update', { ...at, patch: { age: 0 } }), both);
    assert.deepEqual((await once(world, 'query', { table: 'people', limit: 9_999 })).rows, people);
  });

  test('upsert refuses keys without a value, several matches, and an id that is no key', async () => {
    const world = await withPeople();
    const upsert = (keyColumns: string[], row: Answer) =>
      once(world, 'upsert', { table: 'people', keyColumns, row });
    await assert.rejects(upsert(['name'], { age: 1 }), { code: 'table_schema_violation' });
    await assert.rejects(upsert(['admin'], { admin: false }), { code: 'validation_error' });
    await assert.rejects(upsert(['name'], { id: 'p9', name: 'Ada' }), { code: 'table_schema_violation' });
    assert.deepEqual(await upsert(['id'], { id: 'p1', age: 40 }), {
      id: 'p1',
      rowId: 'p1',
      inserted: false,
      updated: true,
    });
  });
});

describe('schemas', () => {
  test('columns keep the type of their first value', async () => {
    const world = await withPeople();
    const bad = (row: Answer) => once(world, 'insert', { table: 'people', row });
    await assert.rejects(bad({ name: 'Eve', age: 'old' }), {
      code: 'table_schema_violation',
      details: { column: 'age' },
      message: /"age" holds number/,
    });
    await assert.rejects(once(world, 'update', { table: 'people', rowId: 'p1', patch: { name: 1 } }), {
      code: 'table_schema_violation',
    });
  });

  test('a declaration that cannot be is refused', async () => {
    const world = await embeddedCallGate();
    const create = (schema: Answer, indexes: string[] = []) =>
      once(world, 'createTable', { name: 't', schema, indexes });
    const violation = { code: 'table_schema_violation' };
    await assert.rejects(create({ 'a.b': 'string' }), violation);
    await assert.rejects(create({ id: 'boolean' }), violation);
    await assert.rejects(create({ a: 'string' }, ['b']), violation);
    await assert.rejects(create({ a: 'date' }), { code: 'validation_error' });
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`c${index}`, 'string']));
    await assert.rejects(create(many(65)), violation);
    await create({ id: 'string', ...many(64) });
  });

  test('what a call says of other columns is refused, with the one that was meant', async () => {
    const world = await embeddedCallGate();
    const schema = { name: 'string', age: 'number', more: 'json' };
    await once(world, 'createTable', { name: 't', schema });
    await once(world, 'insert', { table: 't', row: { name: 'Ada', age: 36, more: { a: 1 } } });
    const refused = (method: string, input: Answer, message: RegExp) =>
      assert.rejects(once(world, method, { table: 't', ...input }), {
        code: 'table_schema_violation',
        message,
      });
    const absent = /no column "agee"\. Did you mean age\? It has id, name, age, more\.$/;
    for (const filter of [{ agee: 1 }, { $or: [{ name: 'Ada' }, { agee: { $ne: 1 } }] }] as Answer[])
      for (const method of ['query', 'count', 'deleteWhere']) await refused(method, { filter }, absent);
    await refused('update', { filter: { agee: { $exists: false } }, update: { name: 'x' } }, absent);
    await refused('updateWhere', { filter: { name: 'nobody' }, patch: { agee: 1 } }, absent);
    await refused('query', { orderBy: ['-agee'] }, absent);
    await refused('query', { filter: { age: { gt: 5 } } }, /holds number values.*Did you mean `\$gt`\?$/);
    await refused('query', { filter: { name: ['Ada', 'Bob'] } }, /with a list\. Did you mean `\$in`\?$/);
    const fitting = { 'more.b': 1, more: { a: 1 }, id: 'x', age: { $in: [null, 36] } };
    await once(world, 'query', { table: 't', filter: fitting, orderBy: ['id', 'more.a'] });
    assert.deepEqual(await once(world, 'count', { table: 't' }), { count: 1 });
  });

  test('rows that no backend could keep are refused', async () => {
    const world = await embeddedCallGate();
    const refused = { code: 'validation_error' };
    const bad = (row: Data) => assert.rejects(once(world, 'insert', { table: 't', row }), refused);
    for (const text of ['a\0b', 'half \ud800']) {
      await bad({ text });
      await bad({ deep: [{ [text]: 1 }] });
    }
    await bad({ bytes: new Uint8Array(1) });
    await bad({ id: true });
    await bad({ id: '' });
    await bad({ text: 'x'.repeat(1_048_576) });
    await bad([]);
  });
});

describe('cursors', () => {
  test('walk every row once, and belong to their tenant, table, filter and order', async () => {
    const world = await withPeople();
    for (const row of people) await once(world, 'insert', { table: 'people', row }, 'other');
    const asked = { table: 'people', filter: { age: { $gt: 1 } }, orderBy: ['-age'], limit: 1 };
    const seen: Data[] = [];
    let cursor: Data = null;
    do {
      const page = await once(world, 'query', { ...asked, cursor });
      seen.push(...idsOf(page));
      cursor = page.nextCursor ?? null;
    } while (cursor !== null);
    assert.deepEqual(seen, ['p3', 'p1', 'p2']);
    const { nextCursor } = await once(world, 'query', asked);
    const stolen = { ...asked, cursor: nextCursor! };
    const refused = { code: 'validation_error', message: /cursor/ };
    await assert.rejects(once(world, 'query', stolen, 'other'), refused);
    await assert.rejects(once(world, 'query', { ...stolen, table: 'others' }), refused);
    await assert.rejects(once(world, 'query', { ...stolen, filter: { age: { $gt: 2 } } }), refused);
    await assert.rejects(once(world, 'query', { ...stolen, orderBy: ['age'] }), refused);
    await assert.rejects(once(world, 'query', { ...stolen, cursor: 'WzFd' }), refused);
  });
});

test('tenants with the same table and ids never meet', async () => {
  const world = await withPeople();
  const theirs = (method: string, input: Answer) =>
    once(world, method, { table: 'people', ...input }, 'other');
  await assert.rejects(theirs('query', {}), { code: 'table_not_found' });
  await theirs('insert', { row: { id: 'p9', name: 7 } });
  assert.deepEqual(await theirs('get', { rowId: 'p1' }), {});
  assert.deepEqual(idsOf(await theirs('query', {})), ['p9']);
  assert.deepEqual(await theirs('delete', { rowId: 'p1' }), { deleted: false });
  assert.deepEqual(await theirs('update', { filter: {}, update: { age: 0 } }), { updated: 1 });
  await assert.rejects(theirs('update', { rowId: 'p1', patch: { age: 0 } }), { code: 'not_found' });
  assert.deepEqual(await theirs('delete', { filter: {} }), { deleted: 1 });
  assert.deepEqual(idsOf(await once(world, 'query', { table: 'people' })), ['p1', 'p2', 'p3']);
});

test('a node that runs again inserts its rows once', async () => {
  const world = await embeddedCallGate();
  const ids = new Set<Data | undefined>();
  for (let run = 0; run < 2; run++) {
    const call = nodeOf(world, { nodeId: 'inserting' });
    for (let row = 0; row < 2; row++)
      ids.add(((await call('storage.table.insert', { table: 't', row: { n: row } })) as Answer).rowId);
  }
  assert.equal(ids.size, 2);
  assert.equal((await once(world, 'count', { table: 't' })).count, 2);
});
