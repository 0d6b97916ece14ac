/** Collections with columns: declared, or taken from the first documents. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonObject } from '@gantry/protocol';
import type { ColumnType } from '../capabilities/documents/columns.ts';
import { EVERYTHING, type Filter, isEqual } from '../capabilities/documents/filter.ts';
import { freshTenant, read, write } from '../testing/calls.ts';
import { type DocumentsPort, INDEXES_MAX } from './documents.ts';

const C = { space: 'test', collection: 'rows' };
const violation = { code: 'table_schema_violation' };

export function columnTests(port: () => DocumentsPort): void {
  const insert = (tenant: string, id: string, members: JsonObject) =>
    port().insert({ ...C, documents: [{ id, document: { id, ...members } }], typed: true }, write(tenant));
  const declare = (tenant: string, types: Record<string, ColumnType>, indexes: string[] = []) =>
    port().declare({ ...C, columns: { closed: true, types }, indexes }, write(tenant));
  undeclared(port, insert);
  declared(port, insert, declare);
  closing(port, insert, declare);
  indexed(port, insert, declare);
  pagesOfIndexed(port, declare);
}

type Insert = (tenant: string, id: string, members: JsonObject) => Promise<unknown>;
type Declare = (tenant: string, types: Record<string, ColumnType>, indexes?: string[]) => Promise<unknown>;

function undeclared(port: () => DocumentsPort, insert: Insert): void {
  test('types come from the first value of a column; null fits everywhere', async () => {
    const tenant = freshTenant();
    await insert(tenant, 'a', { s: 'x', n: 1, b: true, j: [1], later: null });
    await insert(tenant, 'b', { s: null, n: -1.5, j: 'any', later: 2, fresh: 'new' });
    const { columns } = (await port().describe(C, read(tenant))) ?? assert.fail();
    const types = { id: 'string', s: 'string', n: 'number', b: 'boolean', j: 'json', later: 'number' };
    assert.deepEqual(columns, { closed: false, types: { ...types, fresh: 'string' } });
    for (const wrong of [{ n: '1' }, { s: 1 }, { b: 0 }, { b: 'true' }, { later: [] }, { fresh: {} }])
      await assert.rejects(insert(tenant, 'c', wrong), violation, JSON.stringify(wrong));
    for (const name of ['a.b', '$a', '', 'a"b', 'a\\b'])
      await assert.rejects(insert(tenant, 'c', { [name]: 1 }), violation, name);
    const change = { ...C, filter: EVERYTHING, matchesMax: 9, whenNone: { do: 'answer' } as const };
    await assert.rejects(port().patch({ ...change, patch: { n: 'no' } }, write(tenant)), violation);
    assert.equal((await port().patch({ ...change, patch: { n: null } }, write(tenant))).modified, 2);
  });

  test('first rows that come at once agree on the types', async () => {
    const tenant = freshTenant();
    const rows = [{ v: 1 }, { v: 'x' }, { v: 2 }, { v: 'y' }, { v: true }];
    const answers = await Promise.allSettled(rows.map((row, index) => insert(tenant, `r${index}`, row)));
    const kept = rows.filter((_, index) => answers[index]?.status === 'fulfilled');
    assert.ok(kept.length > 0);
    assert.equal(new Set(kept.map(({ v }) => typeof v)).size, 1);
    assert.equal(await port().count({ ...C, filter: EVERYTHING }, read(tenant)), kept.length);
  });

  const row = (count: number, value: Json = 1, prefix = 'c') =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, value]));

  test('has so many columns beside the id, those that are null counted', async () => {
    for (const value of [1, null]) {
      const tenant = freshTenant();
      await insert(tenant, 'a', row(64, value));
      await assert.rejects(insert(tenant, 'b', row(65, value)), violation);
      await assert.rejects(insert(freshTenant(), 'a', row(65, value)), violation);
      const change = { ...C, filter: EVERYTHING, matchesMax: 9, whenNone: { do: 'answer' } as const };
      await assert.rejects(port().patch({ ...change, patch: { more: value } }, write(tenant)), violation);
      assert.equal((await port().patch({ ...change, patch: { c0: 2 } }, write(tenant))).modified, 1);
    }
    const tenant = freshTenant();
    await insert(tenant, 'a', row(40));
    await assert.rejects(insert(tenant, 'b', row(40, 1, 'd')), violation, 'together');
  });

  test('says what its ids are', async () => {
    const tenant = freshTenant();
    const add = (id: Json) =>
      port().insert({ ...C, documents: [{ id: String(id), document: { id } }], typed: true }, write(tenant));
    await add(5);
    await assert.rejects(add('made'), { ...violation, message: /ids of this table are of the type number/ });
  });
}

function declared(port: () => DocumentsPort, insert: Insert, declare: Declare): void {
  test('declared columns are all there are; declaring them again changes nothing', async () => {
    const tenant = freshTenant();
    const types = { name: 'string', age: 'number' } as const;
    await declare(tenant, types);
    await declare(tenant, { age: 'number', name: 'string' });
    await insert(tenant, 'a', { name: 'Ada' });
    await assert.rejects(insert(tenant, 'b', { nmae: 'Bob' }), violation);
    await assert.rejects(declare(tenant, { name: 'string' }), violation);
    await assert.rejects(declare(tenant, { ...types, age: 'string' }), violation);
    assert.deepEqual(await port().describe(C, read(tenant)), {
      columns: { closed: true, types },
      indexes: [],
      documents: 1,
    });
  });
}

function closing(port: () => DocumentsPort, insert: Insert, declare: Declare): void {
  const columns = async (tenant: string) => (await port().describe(C, read(tenant)))?.columns;

  test('a table that rows have made is closed by its declaration, which need not name the id', async () => {
    for (const id of [{}, { id: 'string' as const }]) {
      const tenant = freshTenant();
      await insert(tenant, 'a', { n: 1, odd: null });
      await declare(tenant, { n: 'number', more: 'string', ...id });
      assert.deepEqual(await columns(tenant), {
        closed: true,
        types: { n: 'number', more: 'string', ...id },
      });
      await assert.rejects(insert(tenant, 'b', { n: 1, extra: 'x' }), violation);
      await insert(tenant, 'b', { n: 2, more: 'x' });
      await declare(tenant, { n: 'number', more: 'string' });
      await assert.rejects(declare(tenant, { n: 'number' }), violation);
    }
  });

  test('with rows that do not fit, it stays open and says which; with none left, it closes', async () => {
    const tenant = freshTenant();
    await insert(tenant, 'a', { n: 1, s: 'x', b: true, j: [1] });
    await insert(tenant, 'b', { n: 2, s: 'y', b: false, j: 'text' });
    const types = { n: 'number', s: 'string', b: 'boolean', j: 'json' } as const;
    const wrong = [
      { n: 'string' },
      { s: 'number' },
      { b: 'number' },
      { j: 'string' },
      { id: 'number' },
    ] as const;
    for (const each of wrong)
      await assert.rejects(declare(tenant, { ...types, ...each }), {
        ...violation,
        message: /row "a".*Change/,
      });
    await assert.rejects(declare(tenant, { s: 'string' }), { ...violation, details: { rowId: 'a' } });
    assert.equal((await columns(tenant))?.closed, false);
    await port().delete({ ...C, filter: isEqual(['id'], 'a'), matchesMax: 1 }, write(tenant));
    await declare(tenant, { ...types, n: 'json', j: 'string' });
    assert.equal((await columns(tenant))?.closed, true);
  });

  test('an id that was declared later holds for rows that are there', async () => {
    const tenant = freshTenant();
    await declare(tenant, { n: 'number' });
    await insert(tenant, 'a', { n: 1 });
    await assert.rejects(declare(tenant, { n: 'number', id: 'number' }), violation);
    await declare(tenant, { n: 'number', id: 'string' });
    await assert.rejects(declare(tenant, { n: 'number', id: 'number' }), violation);
    await declare(tenant, { n: 'number' });
    assert.deepEqual(await columns(tenant), { closed: true, types: { n: 'number', id: 'string' } });
  });
}

function indexed(port: () => DocumentsPort, insert: Insert, declare: Declare): void {
  const long = 'x'.repeat(100);

  test('an index answers like a scan, after every kind of write', async () => {
    const tenant = freshTenant();
    await declare(tenant, { k: 'json', n: 'number' }, ['k']);
    const keys = ['a', 'b', 1, 1.5, true, null, `${long}1`, `${long}2`, { x: 1, y: 2 }, 'é"\\'];
    for (const [n, k] of keys.entries()) await insert(tenant, `d${n}`, { k, n });
    await insert(tenant, 'none', {});
    const found = async (k: (typeof keys)[number]) => {
      const page = { ...C, filter: isEqual(['k'], k), sort: [], after: null, limit: 100 };
      return (await port().find(page, read(tenant))).documents.map(({ id }) => id);
    };
    for (const [n, k] of keys.entries())
      assert.deepEqual(await found(k), k === null ? [`d${n}`, 'none'] : [`d${n}`], JSON.stringify(k));
    assert.deepEqual(await found({ y: 2, x: 1 }), ['d8']);
    assert.deepEqual(await found('1'), []);
    const change = { ...C, matchesMax: 9, filter: isEqual(['k'], 'a') };
    await port().patch({ ...change, patch: { k: 'b' }, whenNone: { do: 'answer' } }, write(tenant));
    assert.deepEqual(await found('b'), ['d0', 'd1']);
    assert.deepEqual(await found('a'), []);
    await port().delete({ ...change, filter: isEqual(['k'], 'b') }, write(tenant));
    assert.deepEqual(await found('b'), []);
  });

  test('an index made later holds what was there; there are so many', async () => {
    const tenant = freshTenant();
    const columns = Array.from({ length: INDEXES_MAX + 2 }, (_, index) => `c${index}`);
    const row = Object.fromEntries(columns.map((name) => [name, 7]));
    const types = Object.fromEntries(columns.map((name) => [name, 'number' as const]));
    await declare(tenant, types);
    await insert(tenant, 'a', row);
    await declare(tenant, types, columns);
    assert.deepEqual((await port().describe(C, read(tenant)))?.indexes, columns.slice(0, INDEXES_MAX));
    for (const name of columns)
      assert.equal(await port().count({ ...C, filter: isEqual([name], 7) }, read(tenant)), 1, name);
  });
}

function pagesOfIndexed(port: () => DocumentsPort, declare: Declare): void {
  test('pages by several indexed values meet each document once, whichever is rarer', async () => {
    const tenant = freshTenant();
    await declare(tenant, { a: 'number', b: 'string', n: 'number' }, ['a', 'b']);
    const rows = Array.from({ length: 50 }, (_, n) => ({ id: `d${n}`, a: n % 2, b: `b${n % 5}`, n }));
    const documents = rows.map((document) => ({ id: document.id, document }));
    await port().insert({ ...C, documents, typed: true }, write(tenant));
    const above: Filter = { kind: 'compare', path: ['n'], is: '>', value: 10 };
    for (const [a, b] of [[0, 'b1'] as const, [1, 'b3'] as const, [1, 'b7'] as const])
      for (const descending of [null, false, true]) {
        const filter: Filter = { kind: 'all', of: [isEqual(['a'], a), isEqual(['b'], b), above] };
        const sort = descending === null ? [] : [{ path: ['n'], descending }];
        const met: unknown[] = [];
        for (let after: string | null = null, isFirst = true; isFirst || after !== null; isFirst = false) {
          const page = await port().find({ ...C, filter, sort, after, limit: 2 }, read(tenant));
          met.push(...page.documents.map(({ n }) => n));
          after = page.next;
        }
        const expected = rows.filter((row) => row.a === a && row.b === b && row.n > 10).map(({ n }) => n);
        assert.deepEqual(met, descending ? expected.reverse() : expected);
        assert.equal(await port().count({ ...C, filter }, read(tenant)), expected.length);
      }
  });
}
