/** Vectors through the call gate, as packs call them. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { publicValidator, skipWithoutPublicData } from '../../../../protocol/src/testing/public-schemas.ts';
import type { Data } from '../../calls/data.ts';
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

const vectors = [
  { id: 'a', embedding: [1, 0], metadata: { lang: 'en', year: 2020 } },
  { id: 'b', embedding: [0.6, 0.8], metadata: { lang: 'de', year: 2024 } },
  { id: 'c', embedding: [0, 1] },
];

describe('ctx.db.vector', () => {
  test('upserts, finds and deletes', async () => {
    const once = callsOf();
    const place = { collection: 'docs' };
    assert.deepEqual(await once('db.vector.upsert', { ...place, vectors }), { upserted: 3 });
    const found = await once('db.vector.query', { ...place, embedding: [0, 2], k: 2 });
    assert.deepEqual(found, {
      matches: [
        { id: 'c', score: 1 },
        {
          id: 'b',
          score: (found as { matches: { score: number }[] }).matches[1]!.score,
          metadata: vectors[1]!.metadata,
        },
      ],
    });
    const filter = { year: { $gte: 2020 }, lang: { $in: ['en', 'fr'] } };
    const filtered = await once('db.vector.query', { ...place, embedding: [0, 1], k: 9, filter });
    assert.deepEqual(
      (filtered as { matches: { id: string }[] }).matches.map(({ id }) => id),
      ['a'],
    );
    assert.deepEqual(await once('db.vector.delete', { ...place, ids: ['c', 'x'] }), { deleted: 1 });
    assert.deepEqual(await once('db.vector.delete', { ...place, filter: { lang: 'de' } }), { deleted: 1 });
    assert.deepEqual(await once('db.vector.upsert', { ...place, vectors: [] }), { upserted: 0 });
  });

  test('packed numbers are numbers, within the same bounds', async () => {
    const once = callsOf();
    const packed = (...numbers: number[]) => ({ float32: new Uint8Array(new Float32Array(numbers).buffer) });
    const upsert = (embedding: Data) =>
      once('db.vector.upsert', { collection: 'packed', vectors: [{ id: 'a', embedding }] });
    assert.deepEqual(await upsert(packed(3, 4)), { upserted: 1 });
    const found = await once('db.vector.query', { collection: 'packed', embedding: [3, 4], k: 1 });
    assert.deepEqual(found, { matches: [{ id: 'a', score: 1 }] });
    const query = { collection: 'packed', vector: packed(3, 4) };
    assert.deepEqual(((await once('db.vector.query', query)) as { hits: Data }).hits, [
      { id: 'a', score: 1 },
    ]);
    const wrong: Data[] = [
      packed(),
      packed(Number.NaN, 1),
      packed(1, Number.POSITIVE_INFINITY),
      packed(1e16, 1),
      packed(...Array<number>(4_097).fill(1)),
      { float32: new Uint8Array(7) },
      { float32: 'AAAA' },
      new Uint8Array(8),
    ];
    for (const embedding of wrong)
      await assert.rejects(upsert(embedding), {
        code: 'validation_error',
        message: /vectors\/0\/embedding must be a list of 1 to 4096 numbers from -1000000000000000 to /,
      });
  });

  test('vectors of any length are the nearest to themselves', async () => {
    const once = callsOf();
    const directions = Array.from({ length: 40 }, (_, index) => [Math.cos(index), Math.sin(index)]);
    for (const metric of ['cosine', 'dot'])
      for (const length of [1e14, 1e-15, 1e-25, 1e-40]) {
        const embeddings = directions.map((direction) => direction.map((value) => value * length));
        const collection = `${metric}${length}`;
        const given = embeddings.map((embedding, index) => ({ id: `v${index}`, embedding }));
        await once('db.vector.upsert', { collection, metric, vectors: given });
        const nearest = await Promise.all(
          embeddings.map((embedding) => once('db.vector.query', { collection, embedding, k: 1 })),
        );
        assert.deepEqual(
          nearest.map((found) => (found as { matches: { id: string }[] }).matches[0]?.id),
          given.map(({ id }) => id),
          collection,
        );
      }
  });

  test('as published packs spell it', async () => {
    const once = callsOf();
    const records = [{ id: 'a', vector: [1, 2, 3], metadata: { text: 'x' } }];
    await once('db.vector.upsert', { collection: 'c', records });
    const hits = await once('db.vector.query', { collection: 'c', vector: [1, 2, 3], topK: 3 });
    assert.deepEqual(
      (hits as { hits: { id: string }[] }).hits.map(({ id }) => id),
      ['a'],
    );
    await once('db.vector.upsert', { namespace: 'n', items: [{ id: 'b', vector: [1, 0] }] });
    const matches = await once('db.vector.query', { namespace: 'n', vector: [1, 0], topK: 1 });
    assert.deepEqual((matches as { matches: { id: string }[] }).matches[0]?.id, 'b');
  });

  test('tenants see their own', async () => {
    const once = callsOf();
    await once('db.vector.upsert', { collection: 'c', vectors });
    for (const [path, input] of [
      ['query', { embedding: [1, 0], k: 1 }],
      ['delete', { ids: ['a'] }],
      ['delete', { filter: {} }],
    ] as const)
      await assert.rejects(callsOf()(`db.vector.${path}`, { collection: 'c', ...input }), {
        code: 'vector_collection_not_found',
      });
  });

  test('refuses what is no vector, too much, or a filter that it does not know', async () => {
    const once = callsOf();
    await once('db.vector.upsert', { collection: 'c', vectors });
    const upsert = (each: Data, more = {}) =>
      once('db.vector.upsert', { collection: 'c', vectors: [each], ...more });
    const query = (input: { [name: string]: Data }) =>
      once('db.vector.query', { collection: 'c', embedding: [1, 0], k: 1, ...input });
    for (const embedding of [[], ['1'], [null], 'text', [1e300], Array(4_097).fill(0)])
      await assert.rejects(upsert({ id: 'a', embedding }), { code: 'validation_error' });
    for (const id of ['', 'a\0', 'x'.repeat(129), 5])
      await assert.rejects(upsert({ id, embedding: [1, 0] }), { code: 'validation_error' });
    const metadata = { text: 'x'.repeat(16_384) };
    await assert.rejects(upsert({ id: 'a', embedding: [1, 0], metadata }), { message: /16384 bytes/ });
    await assert.rejects(upsert({ id: 'a', embedding: [1, 0] }, { metric: 'hamming' }), {
      code: 'validation_error',
    });
    for (const k of [0, 501, 1.5, '3']) await assert.rejects(query({ k }), { code: 'validation_error' });
    await assert.rejects(query({ filter: { $where: '1' } }), { code: 'validation_error' });
    await assert.rejects(query({ filter: { a: { $regex: '.' } } }), { message: /\$regex/ });
    await assert.rejects(query({ embedding: [1] }), { code: 'vector_dimension_mismatch' });
  });

  test('its advertisement fits the public schema', { skip: skipWithoutPublicData }, () => {
    const { vectorStore, searchIndex } = world.callGate.discovery();
    assert.deepEqual(
      { vectorStore, searchIndex },
      { vectorStore: { supported: true }, searchIndex: { supported: true } },
    );
    const rounds = { clarificationRounds: 0, schemaRounds: 0, envelopesPerTurn: 1 };
    const host = { protocolVersion: '1.0', supportedEnvelopes: [], schemaVersions: {}, limits: rounds };
    const validate = publicValidator('capabilities.schema.json');
    assert.deepEqual(validate?.({ ...host, ...world.callGate.discovery() }), []);
    assert.notDeepEqual(validate?.({ ...host, vectorStore: { supported: 'yes' } }), []);
  });
});
