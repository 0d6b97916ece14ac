/** `ctx.db.nosql` as pack code meets it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OpenwopError } from '@gantry/protocol';
import { createCursors } from '../../calls/cursor.ts';
import type { Data } from '../../calls/data.ts';
import { openEmbeddedDatabase } from '../../sqlite/database.ts';
import { embeddedDocuments } from '../../sqlite/documents.ts';
import { freshFolder } from '../../testing/data-dir.ts';
import { embeddedCallGate } from '../../testing/embedded-call-gate.ts';
import { callGateOf, nodeOf, type TestCallGate } from '../../testing/test-call-gate.ts';
import { implementNosql, NOSQL_LIMITS } from './surface.ts';

type Answer = { [name: string]: Data };
let node = 0;
const once = async (world: TestCallGate, method: string, input: Answer, tenant = 'acme') => {
  const call = nodeOf(world, { nodeId: `node-${++node}`, tenant });
  const place = 'datasource' in input ? {} : { datasourceId: 'primary' };
  return (await call(`db.nosql.${method}`, { ...place, collection: 'c', ...input })) as Answer;
};

describe('the five methods of the contract', () => {
  test('insert, get, query, update, delete', async () => {
    const world = await embeddedCallGate();
    const { id } = await once(world, 'insert', { doc: { a: { b: 1 }, 'odd.$name': [null] } });
    const doc = { id, a: { b: 1 }, 'odd.$name': [null] };
    assert.deepEqual(await once(world, 'get', { id: id! }), { doc });
    assert.deepEqual(await once(world, 'query', { filter: { 'a.b': { $gte: 1 } } }), { docs: [doc] });
    assert.deepEqual(await once(world, 'update', { id: id!, patch: { a: 2 } }), { ok: true });
    assert.deepEqual(await once(world, 'get', { id: id! }), { doc: { ...doc, a: 2 } });
    assert.deepEqual(await once(world, 'delete', { id: id! }), { deleted: true });
    assert.deepEqual(await once(world, 'get', { id: id! }), {});
    await assert.rejects(once(world, 'update', { id: id!, patch: {} }), { code: 'not_found' });
  });
});

describe('as published packs call it', () => {
  const at = { datasource: 'primary' };

  test('insert of many, find with order and projection, update with upsert, delete', async () => {
    const world = await embeddedCallGate();
    const docs = [{ id: 'a', n: 1, s: 'x' }, { id: 'b', n: 2, s: 'y' }, { n: 3 }];
    const { inserted, ids } = await once(world, 'insert', { ...at, docs });
    assert.equal(inserted, 3);
    assert.deepEqual((ids as string[]).slice(0, 2), ['a', 'b']);
    const found = await once(world, 'find', { ...at, sort: { n: -1 }, projection: { n: 1 }, limit: 2 });
    assert.deepEqual(found.docs, [
      { id: (ids as string[])[2], n: 3 },
      { id: 'b', n: 2 },
    ]);
    assert.deepEqual(await once(world, 'update', { ...at, filter: { s: 'x' }, update: { $set: { n: 9 } } }), {
      matched: 1,
      modified: 1,
    });
    const upsert = { ...at, filter: { k: 'new' }, update: { n: 5 }, upsert: true };
    assert.deepEqual(await once(world, 'update', upsert), { matched: 0, modified: 0 });
    assert.deepEqual(await once(world, 'update', upsert), { matched: 1, modified: 0 });
    const [made] = (await once(world, 'find', { ...at, filter: { k: 'new' }, projection: { id: 0 } }))
      .docs as Data[];
    assert.deepEqual(made, { k: 'new', n: 5 });
    assert.deepEqual(await once(world, 'delete', { ...at, filter: { n: { $in: [5, 9] } } }), { deleted: 2 });
  });
});

describe('one document or many', () => {
  test('an id and a filter together are refused, and nothing is changed', async () => {
    const world = await embeddedCallGate();
    await once(world, 'insert', { docs: [{ id: 'a' }, { id: 'b' }] });
    const both = { code: 'validation_error', message: /both `id` and `filter`/ };
    await assert.rejects(once(world, 'delete', { id: 'a', filter: {} }), both);
    await assert.rejects(once(world, 'update', { id: 'a', filter: {}, update: { n: 1 } }), both);
    await assert.rejects(once(world, 'update', { id: 'a', filter: {}, patch: { n: 1 } }), both);
    await assert.rejects(once(world, 'insert', { doc: {}, docs: [] }), { code: 'validation_error' });
    assert.deepEqual(await once(world, 'find', {}), { docs: [{ id: 'a' }, { id: 'b' }] });
  });

  test('no documents are inserted as asked; a data source that is not there is refused all the same', async () => {
    const world = await embeddedCallGate();
    assert.deepEqual(await once(world, 'insert', { docs: [] }), { inserted: 0, ids: [] });
    const elsewhere = { datasource: 'crm' };
    for (const [method, input] of [
      ['insert', { docs: [] }],
      ['insert', { doc: {} }],
      ['get', { id: 'a' }],
      ['query', { filter: {} }],
      ['update', { id: 'a', patch: {} }],
      ['delete', { id: 'a' }],
    ] as const)
      await assert.rejects(
        once(world, method, { ...elsewhere, ...input }),
        { code: 'datasource_not_found' },
        method,
      );
  });

  test('a page is as long as it may be, however much was asked for', async () => {
    const world = await embeddedCallGate();
    const docs = Array.from({ length: 1_000 }, (_, n) => ({ n }));
    await once(world, 'insert', { docs });
    await once(world, 'insert', { doc: { n: 1_000 } });
    const { docs: page, nextCursor } = await once(world, 'find', { limit: 5_000 });
    assert.equal((page as Data[]).length, 1_000);
    assert.equal(
      ((await once(world, 'find', { limit: 1e300, cursor: nextCursor! })).docs as Data[]).length,
      1,
    );
    for (const limit of [0, -1, 1.5])
      await assert.rejects(once(world, 'find', { limit }), { code: 'validation_error' });
  });
});

test('odd updates, orders and projections are refused by name', async () => {
  const world = await embeddedCallGate();
  const at = { datasource: 'primary', filter: {} };
  const rejected = { code: 'nosql_filter_rejected' };
  for (const update of [{ $inc: { a: 1 } }, { $set: 1 }, { $set: { $a: 1 } }, { $set: {}, b: 1 }])
    await assert.rejects(once(world, 'update', { ...at, update }), rejected);
  for (const patch of [{ $inc: { a: 1 } }, { $unset: { a: 1 } }])
    await assert.rejects(once(world, 'update', { id: 'a', patch }), rejected);
  for (const sort of [{ a: 2 }, { $a: 1 }, { a: 1, b: 1, c: 1, d: 1 }])
    await assert.rejects(once(world, 'find', { ...at, sort }), rejected);
  for (const projection of [{ a: 1, b: 0 }, { a: '$b' }, { 'a.b': 1 }])
    await assert.rejects(once(world, 'find', { ...at, projection }), rejected);
  await assert.rejects(once(world, 'update', { ...at, update: { id: 'x' } }), { code: 'validation_error' });
  for (const update of [
    { 'a..b': 1 },
    { 'a.$b': 1 },
    { a: 1, 'a.b': 2 },
    { 'a.b': 1, 'a.b.c': 2 },
    { 'id.x': 1 },
  ])
    for (const patch of [update, { $set: update }]) {
      await assert.rejects(once(world, 'update', { ...at, update: patch }), rejected);
      await assert.rejects(once(world, 'update', { id: 'a', patch }), rejected);
    }
  for (const [filter, update] of [
    [{ a: 1, $and: [{ a: 2 }] }, {}],
    [{ a: 1, 'a.b': 1 }, {}],
    [{ 'a.b': 1 }, { a: { c: 1 } }],
  ] as const)
    await assert.rejects(once(world, 'update', { filter, update, upsert: true }), rejected);
});

test('data sources: unknown, of another tenant, and shared by name only', async (t) => {
  const folder = freshFolder();
  const database = await openEmbeddedDatabase({ dataDir: folder.path });
  t.after(async () => {
    await database.close();
    folder.remove();
  });
  const port = embeddedDocuments(database, NOSQL_LIMITS);
  const datasources = [
    { id: 'primary', driver: 'sqlite', tenants: '*' as const, port },
    { id: 'theirs', driver: 'sqlite', tenants: ['other'], port },
  ];
  const world = callGateOf([implementNosql({ datasources, cursors: createCursors(new Uint8Array(32)) })]);
  const get = (datasource: string, tenant = 'acme') =>
    once(world, 'get', { datasourceId: datasource, id: 'a' }, tenant);
  await assert.rejects(get('nowhere'), { code: 'datasource_not_found', details: undefined });
  await assert.rejects(get('theirs'), { code: 'datasource_access_denied' });
  await once(world, 'insert', { datasourceId: 'theirs', doc: { id: 'a' } }, 'other');
  assert.deepEqual(await get('theirs', 'other'), { doc: { id: 'a' } });
  assert.deepEqual(await get('primary', 'other'), {});
  assert.deepEqual(world.callGate.discovery().nosql, {
    supported: true,
    datasources: [{ id: 'primary', driver: 'sqlite' }],
  });
});

test('the data source is the primary one unless said otherwise, and what was said is not repeated', async () => {
  const world = await embeddedCallGate();
  const call = nodeOf(world, { nodeId: `node-${++node}` });
  const { id } = (await call('db.nosql.insert', { collection: 'c', doc: { n: 1 } })) as Answer;
  assert.deepEqual(await once(world, 'get', { id: id! }), { doc: { id, n: 1 } });
  assert.deepEqual(await call('db.nosql.find', { collection: 'c' }), { docs: [{ id, n: 1 }] });
  for (const datasourceId of ['s3cr3t', 's3cr3t'.repeat(100_000)]) {
    const error = await once(world, 'get', { datasourceId, id: 'x' }).catch((thrown: unknown) => thrown);
    assert.ok(error instanceof OpenwopError);
    assert.doesNotMatch(JSON.stringify([error.message, error.details]), /s3cr3t/);
  }
});

test('an id is a text, however it was written, and is found so', async () => {
  const world = await embeddedCallGate();
  assert.deepEqual(await once(world, 'insert', { doc: { id: 5, n: 1 } }), { id: '5' });
  for (const filter of [
    { id: '5' },
    { id: 5 },
    { id: { $in: [1, 5] } },
    { $and: [{ id: 5 }, { n: 1 }] },
    { id: { $ne: 6 } },
  ])
    assert.deepEqual(
      (await once(world, 'query', { filter })).docs,
      [{ id: '5', n: 1 }],
      JSON.stringify(filter),
    );
  for (const filter of [{ id: true }, { id: { $ne: 5 } }, { id: { $in: [] } }, { id: null }])
    assert.deepEqual((await once(world, 'query', { filter })).docs, [], JSON.stringify(filter));
  await once(world, 'update', { filter: { id: 7 }, update: { n: 2 }, upsert: true });
  assert.deepEqual(await once(world, 'get', { id: '7' }), { doc: { id: '7', n: 2 } });
});

test('an upsert makes a document that its filter finds, and inner members are set by their path', async () => {
  const world = await embeddedCallGate();
  const upsert = {
    filter: { 'a.b': 1, k: { $eq: 2 }, n: { $gt: 5 } },
    update: { $set: { 'a.c': 3, 'x.y': 4 } },
  };
  assert.deepEqual(await once(world, 'update', { ...upsert, upsert: true }), { matched: 0, modified: 0 });
  const find = async (filter: Answer) => (await once(world, 'find', { filter, projection: { id: 0 } })).docs;
  assert.deepEqual(await find({ 'a.b': 1, 'x.y': 4 }), [{ a: { b: 1, c: 3 }, k: 2, x: { y: 4 } }]);
  const [{ id }] = (await once(world, 'find', {})).docs as [{ id: string }];
  await once(world, 'update', { id, patch: { 'a.b': 9, 'new.member': 1 } });
  assert.deepEqual(await find({ 'a.b': 9, 'new.member': 1 }), [
    { a: { b: 9, c: 3 }, k: 2, x: { y: 4 }, new: { member: 1 } },
  ]);
});

test('tenants with the same collection and ids never meet', async () => {
  const world = await embeddedCallGate();
  await once(world, 'insert', { doc: { id: 'a', secret: 1 } });
  const theirs = (method: string, input: Answer) => once(world, method, input, 'other');
  const at = { datasource: 'primary', filter: {} };
  assert.deepEqual(await theirs('get', { id: 'a' }), {});
  assert.deepEqual(await theirs('find', at), { docs: [] });
  assert.deepEqual(await theirs('delete', { id: 'a' }), { deleted: false });
  assert.deepEqual(await theirs('delete', at), { deleted: 0 });
  assert.deepEqual(await theirs('update', { ...at, update: { secret: 2 } }), { matched: 0, modified: 0 });
  await assert.rejects(theirs('update', { id: 'a', patch: { secret: 2 } }), { code: 'not_found' });
  await theirs('insert', { doc: { id: 'a', secret: 3 } });
  assert.deepEqual(await once(world, 'get', { id: 'a' }), { doc: { id: 'a', secret: 1 } });
});
