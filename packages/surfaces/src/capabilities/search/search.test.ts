/** Full text through the call gate, as packs call it. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { Data, DataObject } from '../../calls/data.ts';
import { freshTenant } from '../../testing/calls.ts';
import { retrievalCallGate } from '../../testing/retrieval.ts';
import { nodeOf } from '../../testing/test-call-gate.ts';

const world = retrievalCallGate();
after(() => world.close());
let nodes = 0;
/** Every call is a node of its own. */
const callsOf =
  (tenant = freshTenant()) =>
  (path: string, input: Data) =>
    nodeOf(world, { tenant, nodeId: `node-${++nodes}` })(path, input);

const docs = [
  { id: 'one', fields: { title: 'Durable runs', draft: true, year: 2020 } },
  { id: 'two', fields: { title: 'Leader election', draft: false, year: 2024 } },
];

type Hits = {
  readonly hits: readonly { readonly id: string; readonly score: number; readonly fields: DataObject }[];
  readonly totalHits: number;
};

describe('ctx.db.search', () => {
  test('indexes, finds and deletes', async () => {
    const once = callsOf();
    const find = async (q: string, more = {}) =>
      ((await once('db.search.query', { index: 'i', q, ...more })) as Hits).hits;
    assert.deepEqual(await once('db.search.index', { index: 'i', docs }), { indexed: 2 });
    const [hit] = await find('durable election durable');
    assert.ok(hit && hit.score > 0);
    assert.deepEqual((await find('lect'))[0]?.fields, docs[1]!.fields);
    const filter = { draft: false, year: { $gt: 2020 } };
    assert.deepEqual(
      (await find('runs election', { filter })).map(({ id }) => id),
      ['two'],
    );
    assert.deepEqual(
      (await find('true')).map(({ id }) => id),
      ['one'],
      'booleans are text too',
    );
    assert.equal((await find('runs election', { k: 1 })).length, 1);
    assert.deepEqual(await once('db.search.delete', { index: 'i', ids: ['two'] }), { deleted: 1 });
    assert.deepEqual(await find('leader'), []);
    assert.deepEqual(await once('db.search.index', { index: 'i', docs: [] }), { indexed: 0 });
  });

  test('as published packs spell it', async () => {
    const once = callsOf();
    const document = { title: 'hello world' };
    assert.deepEqual(await once('db.search.index', { index: 'i', id: 'a', document }), { indexed: true });
    const found = (await once('db.search.query', { index: 'i', query: 'hello', limit: 5 })) as Hits;
    assert.deepEqual([found.hits[0]?.id, found.totalHits], ['a', 1]);
  });

  test('tenants see their own', async () => {
    const once = callsOf();
    await once('db.search.index', { index: 'i', docs });
    for (const [path, input] of [
      ['query', { q: 'durable' }],
      ['delete', { ids: ['one'] }],
    ] as const)
      await assert.rejects(callsOf()(`db.search.${path}`, { index: 'i', ...input }), {
        code: 'search_index_not_found',
      });
  });

  test('refuses what cannot be indexed or searched for', async () => {
    const once = callsOf();
    await once('db.search.index', { index: 'i', docs });
    const index = (fields: Data) => once('db.search.index', { index: 'i', docs: [{ id: 'x', fields }] });
    for (const fields of [
      { a: null },
      { a: [1] },
      { a: { b: 1 } },
      { a: 'x\0' },
      { 'half \ud800': 1 },
      'text',
    ])
      await assert.rejects(index(fields), { code: 'validation_error' });
    await assert.rejects(index({ text: 'x'.repeat(65_536) }), { message: /65536 bytes/ });
    const large = Array.from({ length: 40 }, (_, n) => ({
      id: `d${n}`,
      fields: { text: 'x'.repeat(60_000) },
    }));
    await assert.rejects(once('db.search.index', { index: 'i', docs: large }), { message: /several calls/ });
    const query = (q: string, more = {}) => once('db.search.query', { index: 'i', q, ...more });
    for (const q of ['', '  \n'])
      await assert.rejects(query(q), { code: 'search_query_syntax_error', message: /empty/ });
    await assert.rejects(query('x'.repeat(32_769)), { code: 'validation_error' });
    await assert.rejects(query('x', { k: 101 }), { code: 'validation_error' });
    await assert.rejects(query('x', { filter: { a: { $where: 1 } } }), { code: 'validation_error' });
  });
});
