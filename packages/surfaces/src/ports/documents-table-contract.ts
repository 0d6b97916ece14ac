/** `ctx.storage.table` over a backend: what the surface promises whatever stands behind it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCursors } from '../calls/cursor.ts';
import type { Data } from '../calls/data.ts';
import { implementTable, TABLE_LIMITS } from '../capabilities/table/surface.ts';
import { freshTenant } from '../testing/calls.ts';
import { HOSTILE_TEXTS } from '../testing/hostile-texts.ts';
import { callGateOf, nodeOf } from '../testing/test-call-gate.ts';
import type { DocumentLimits, DocumentsPort } from './documents.ts';

type Answer = { readonly [name: string]: Data };
type Calls = (method: string, input: Data) => Promise<Answer>;

export function tableTests(portOf: (limits: DocumentLimits) => DocumentsPort): void {
  let nodes = 0;
  const callsOf = (tenant: string): Calls => {
    const cursors = createCursors(new Uint8Array(32).fill(1));
    const world = callGateOf([implementTable({ port: portOf(TABLE_LIMITS), cursors })]);
    return async (method, input) =>
      (await nodeOf(world, { tenant, nodeId: `n${nodes++}` })(`storage.table.${method}`, input)) as Answer;
  };
  const fresh = (): Calls => callsOf(freshTenant());
  cursors(fresh);
  absence(fresh);
  hostile(fresh);
}

const idsOf = ({ rows }: Answer): Data[] => (rows as Answer[]).map(({ id }) => id!);

function cursors(fresh: () => Calls): void {
  test('tables: a cursor belongs to its tenant, table, filter and order', async () => {
    const [ours, theirs] = [fresh(), fresh()];
    for (const call of [ours, theirs])
      for (const table of ['t', 'u'])
        for (const id of ['a', 'b', 'c']) await call('insert', { table, row: { id, n: 1 } });
    const asked = { table: 't', filter: { n: 1 }, limit: 1 };
    const { nextCursor } = await ours('query', asked);
    const taken = { ...asked, cursor: nextCursor! };
    const refused = { code: 'validation_error', message: /cursor/ };
    await assert.rejects(theirs('query', taken), refused);
    await assert.rejects(ours('query', { ...taken, table: 'u' }), refused);
    await assert.rejects(ours('query', { ...taken, filter: {} }), refused);
    await assert.rejects(ours('query', { ...taken, orderBy: ['n'] }), refused);
    assert.deepEqual(idsOf(await ours('query', { ...taken, limit: 9 })), ['b', 'c']);
  });
}

function absence(fresh: () => Calls): void {
  test('tables: one that is not there is refused, by every method that makes none', async () => {
    const [call, other] = [fresh(), fresh()];
    const asked: readonly [string, Answer][] = [
      ['get', { rowId: 'a' }],
      ['query', {}],
      ['count', {}],
      ['update', { rowId: 'a', patch: { n: 1 } }],
      ['updateWhere', { filter: {}, patch: { n: 1 } }],
      ['delete', { rowId: 'a' }],
      ['deleteWhere', { filter: {} }],
    ];
    const refused = { code: 'table_not_found', details: { table: 't' } };
    const refuses = async (calls: Calls) => {
      for (const [method, input] of asked)
        await assert.rejects(calls(method, { table: 't', ...input }), refused, method);
    };
    await refuses(call);
    await call('createTable', { name: 't', schema: { n: 'number' } });
    assert.deepEqual(await call('query', { table: 't' }), { rows: [] });
    assert.deepEqual(await call('get', { table: 't', rowId: 'a' }), {});
    assert.deepEqual(await call('deleteWhere', { table: 't', filter: {} }), { deleted: 0 });
    await refuses(other);
    await other('upsert', { table: 't', row: { id: 'a', n: 1 } });
    assert.deepEqual(await other('count', { table: 't' }), { count: 1 });
  });
}

function hostile(fresh: () => Calls): void {
  test('nothing in the name of a table, an id or a value has a meaning of its own', async () => {
    const [call, other] = [fresh(), fresh()];
    for (const text of HOSTILE_TEXTS) {
      await call('insert', { table: text, row: { id: text, v: text, j: [{ [text]: text }] } });
      await call('insert', { table: 'all', row: { id: text, v: text } });
    }
    for (const text of HOSTILE_TEXTS) {
      const row = { id: text, v: text, j: [{ [text]: text }] };
      assert.deepEqual(await call('get', { table: text, rowId: text }), { row });
      assert.deepEqual(idsOf(await call('query', { table: 'all', filter: { v: text } })), [text]);
      assert.deepEqual(await call('update', { table: text, rowId: text, patch: { v: `${text}!` } }), {
        ok: true,
      });
      assert.deepEqual(await call('count', { table: text, filter: { v: `${text}!` } }), { count: 1 });
      await assert.rejects(other('get', { table: text, rowId: text }), { code: 'table_not_found' });
      assert.deepEqual(await call('delete', { table: 'all', rowId: text }), { deleted: true });
    }
    assert.deepEqual(await call('count', { table: 'all' }), { count: 0 });
  });

  test('a column has a name that every backend can look up, or is refused', async () => {
    const call = fresh();
    for (const [index, name] of HOSTILE_TEXTS.entries()) {
      const table = `t${index}`;
      const filter = { [name]: 7 };
      const kept = await call('insert', { table, row: { id: 'a', [name]: 7 } }).then(
        () => true,
        ({ code }) => assert.equal(code, 'table_schema_violation', name),
      );
      if (!kept) continue;
      assert.deepEqual((await call('get', { table, rowId: 'a' })).row, { id: 'a', [name]: 7 });
      assert.deepEqual(idsOf(await call('query', { table, filter, orderBy: [`-${name}`] })), ['a'], name);
      const schema = { [name]: 'number' };
      assert.deepEqual(await call('createTable', { name: table, schema, indexes: [name] }), { ok: true });
      assert.deepEqual(await call('count', { table, filter }), { count: 1 }, name);
    }
  });
}
