/** What every backend of the vectors port must do, through the port: I1 to I5. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { JsonObject } from '@gantry/protocol';
import { EVERYTHING, type Filter, isEqual } from '../capabilities/documents/filter.ts';
import type { Metric } from '../capabilities/vector/metric.ts';
import { freshTenant, NOW, read, write } from '../testing/calls.ts';
import { HOSTILE_TEXTS } from '../testing/hostile-texts.ts';
import type { NewVector, VectorLimits, VectorsPort } from './vectors.ts';
import { vectorsModelProperty, vectorsPrecision } from './vectors-model-contract.ts';

export interface OpenedVectors {
  readonly port: VectorsPort;
  close(): Promise<void>;
}

export const VECTORS_CONTRACT_LIMITS: VectorLimits = {
  vectorsMax: 3_000,
  collectionsMax: 40,
  quotaBytes: 1_000_000,
  deletedMax: 1_000,
};

/** `open` makes a port with `VECTORS_CONTRACT_LIMITS`. Every test is a tenant of its own. */
export function vectorsContract(
  name: string,
  open: () => Promise<OpenedVectors>,
  skip: string | false = false,
): void {
  describe(`vectors port: ${name}`, { skip }, () => {
    let opened: OpenedVectors | null = null;
    const port = (): VectorsPort => opened?.port ?? assert.fail('the port is not open');
    before(async () => {
      opened = await open();
    });
    after(() => opened?.close());
    nearest(port);
    shapes(port);
    isolation(port);
    deletion(port);
    once(port);
    limits(port);
    test('I5: finds what a look at every vector finds', () => vectorsModelProperty(port()));
    test('I5: many vectors, and ones that lie very close together', () => vectorsPrecision(port()));
    test('a large deletion is done in steps', () => deletesInSteps(port()));
    test('is healthy', () => port().health());
  });
}

const vector = (id: string, embedding: readonly number[], metadata: JsonObject | null = null): NewVector => ({
  id,
  metadata,
  embedding: Float32Array.from(embedding),
});

const upsert = (
  port: VectorsPort,
  tenant: string,
  vectors: readonly NewVector[],
  { collection = 'c', metric = null }: { collection?: string; metric?: Metric | null } = {},
) => port.upsert({ collection, metric, vectors }, write(tenant));

interface Asked {
  readonly collection?: string;
  readonly k?: number;
  readonly filter?: Filter;
}

const query = (port: VectorsPort, tenant: string, embedding: readonly number[], asked: Asked = {}) =>
  port.query(
    { collection: 'c', k: 10, filter: EVERYTHING, ...asked, embedding: Float32Array.from(embedding) },
    read(tenant),
  );

const ids = async (found: ReturnType<typeof query>): Promise<string[]> => (await found).map(({ id }) => id);

function nearest(port: () => VectorsPort): void {
  test('a vector is the nearest to itself, and all that was upserted comes back', async () => {
    const tenant = freshTenant();
    const circle = Array.from({ length: 10 }, (_, index) =>
      vector(`v${index}`, [Math.cos((index * Math.PI) / 5), Math.sin((index * Math.PI) / 5)], { index }),
    );
    assert.deepEqual(await upsert(port(), tenant, circle), { upserted: 10 });
    for (const { id, embedding, metadata } of circle) {
      const [first, ...others] = await query(port(), tenant, [...embedding]);
      assert.deepEqual([first?.id, first?.metadata, others.length], [id, metadata, 9]);
      assert.ok(Math.abs(first!.score - 1) < 1e-9);
    }
    assert.equal((await query(port(), tenant, [1, 0], { k: 3 })).length, 3);
  });

  test('metrics: the best first, each with its score', async () => {
    const tenant = freshTenant();
    const vectors = [vector('near', [1, 1]), vector('far', [10, 9]), vector('zero', [0, 0])];
    const scores = async (metric: Metric) => {
      await upsert(port(), tenant, vectors, { collection: metric, metric });
      const found = await query(port(), tenant, [1, 1], { collection: metric });
      return found.map(({ id, score }) => [id, Number(score.toFixed(4))]);
    };
    assert.deepEqual(await scores('cosine'), [
      ['near', 1],
      ['far', 0.9986],
      ['zero', 0],
    ]);
    assert.deepEqual(await scores('dot'), [
      ['far', 19],
      ['near', 2],
      ['zero', 0],
    ]);
    assert.deepEqual(await scores('l2'), [
      ['near', 1],
      ['zero', 0.4142],
      ['far', 0.0767],
    ]);
  });

  test('equal vectors are in the order of their ids; one of zeros is near to nothing', async () => {
    const tenant = freshTenant();
    await upsert(
      port(),
      tenant,
      ['c', 'a', 'b'].map((id) => vector(id, [1, 2])),
    );
    assert.deepEqual(await ids(query(port(), tenant, [1, 2])), ['a', 'b', 'c']);
    assert.deepEqual(
      (await query(port(), tenant, [0, 0])).map(({ score }) => score),
      [0, 0, 0],
    );
  });

  test('an upsert replaces vector and metadata; of two in a call the last one stays', async () => {
    const tenant = freshTenant();
    await upsert(port(), tenant, [vector('a', [1, 0], { old: true }), vector('b', [0, 1])]);
    await upsert(port(), tenant, [vector('a', [1, 0]), vector('a', [0, 2], { new: 1, long: 2, a: 3 })]);
    const found = await query(port(), tenant, [0, 1]);
    assert.deepEqual(found, [
      { id: 'a', score: 1, metadata: { a: 3, long: 2, new: 1 } },
      { id: 'b', score: 1, metadata: null },
    ]);
    assert.deepEqual(Object.keys(found[0]?.metadata ?? {}), ['a', 'long', 'new']);
    assert.deepEqual(await ids(query(port(), tenant, [0, 1], { filter: isEqual(['old'], true) })), []);
  });
}

function shapes(port: () => VectorsPort): void {
  test('I2: other dimensions or another metric are refused until the collection is empty', async () => {
    const tenant = freshTenant();
    await upsert(port(), tenant, [vector('a', [1, 0])]);
    const mismatch = { code: 'vector_dimension_mismatch', details: { expected: 2, actual: 3 } };
    await assert.rejects(upsert(port(), tenant, [vector('b', [1, 0, 0])]), mismatch);
    await assert.rejects(upsert(port(), tenant, [vector('b', [1, 1]), vector('c', [1, 0, 0])]), mismatch);
    await assert.rejects(query(port(), tenant, [1, 0, 0]), mismatch);
    await assert.rejects(upsert(port(), tenant, [vector('b', [1, 0])], { metric: 'dot' }), {
      code: 'conflict',
    });
    assert.deepEqual(await ids(query(port(), tenant, [1, 0])), ['a'], 'nothing of a refused call stays');
    await port().delete({ collection: 'c', ids: ['a'], filter: EVERYTHING }, write(tenant));
    assert.deepEqual(await query(port(), tenant, [1, 0]), []);
    await upsert(port(), tenant, [vector('a', [1, 0, 5])], { metric: 'dot' });
    assert.equal((await query(port(), tenant, [0, 0, 2]))[0]?.score, 10);
  });

  test('an unknown collection is named', async () => {
    const tenant = freshTenant();
    const unknown = { code: 'vector_collection_not_found', message: /"c"/ };
    await assert.rejects(query(port(), tenant, [1]), unknown);
    await assert.rejects(
      port().delete({ collection: 'c', ids: ['a'], filter: EVERYTHING }, write(tenant)),
      unknown,
    );
  });
}

function isolation(port: () => VectorsPort): void {
  test('I1: tenants and collections share nothing, whatever the names', async () => {
    const [ours, theirs] = [freshTenant(), freshTenant()];
    await upsert(port(), ours, [vector('a', [1, 0], { of: 'ours' })]);
    await upsert(port(), ours, [vector('a', [1, 0], { of: 'apart' })], { collection: 'd' });
    await assert.rejects(query(port(), theirs, [1, 0]), { code: 'vector_collection_not_found' });
    await upsert(port(), theirs, [vector('a', [0, 1], { of: 'theirs' }), vector('b', [0, 1])]);
    assert.deepEqual(await query(port(), ours, [0, 1]), [{ id: 'a', score: 0, metadata: { of: 'ours' } }]);
    assert.deepEqual(await ids(query(port(), ours, [1, 0], { filter: isEqual(['of'], 'theirs') })), []);
    const all = { collection: 'c', ids: null, filter: EVERYTHING };
    assert.deepEqual(await port().delete(all, write(theirs)), { deleted: 2 });
    assert.deepEqual(await ids(query(port(), ours, [1, 0])), ['a']);
    assert.deepEqual((await query(port(), ours, [1, 0], { collection: 'd' }))[0]?.metadata, { of: 'apart' });
  });

  test('nothing in a name or a value has a meaning of its own', async () => {
    const tenant = freshTenant();
    for (const text of HOSTILE_TEXTS.slice(0, VECTORS_CONTRACT_LIMITS.collectionsMax)) {
      const place = { collection: text };
      await upsert(port(), tenant, [vector(text, [1], { text }), vector('other', [1])], place);
      const found = query(port(), tenant, [1], { ...place, filter: isEqual(['text'], text) });
      assert.deepEqual(await found, [{ id: text, score: 1, metadata: { text } }], JSON.stringify(text));
      const gone = await port().delete({ ...place, ids: [text], filter: EVERYTHING }, write(tenant));
      assert.deepEqual(gone, { deleted: 1 });
      assert.deepEqual(await ids(query(port(), tenant, [1], place)), ['other']);
    }
  });
}

function deletion(port: () => VectorsPort): void {
  test('deletes by id, by metadata, and by both', async () => {
    const tenant = freshTenant();
    const vectors = ['a', 'b', 'c', 'd'].map((id, index) =>
      vector(id, [index, 1], { even: index % 2 === 0 }),
    );
    await upsert(port(), tenant, vectors);
    const gone = (which: { ids: string[] | null; filter: Filter }) =>
      port().delete({ collection: 'c', ...which }, write(tenant));
    const even = isEqual(['even'], true);
    assert.deepEqual(await gone({ ids: ['a', 'a', 'x'], filter: EVERYTHING }), { deleted: 1 });
    assert.deepEqual(await gone({ ids: ['b', 'c'], filter: even }), { deleted: 1 });
    assert.deepEqual(await ids(query(port(), tenant, [1, 1])), ['b', 'd']);
    assert.deepEqual(await gone({ ids: null, filter: even }), { deleted: 0 });
    assert.deepEqual(await gone({ ids: null, filter: EVERYTHING }), { deleted: 2 });
    assert.deepEqual(await query(port(), tenant, [1, 1]), []);
  });
}

async function deletesInSteps(port: VectorsPort): Promise<void> {
  const tenant = freshTenant();
  const many = Array.from({ length: 1_500 }, (_, index) => vector(`v${index}`, [index, 1]));
  await upsert(port, tenant, many);
  const all = { collection: 'c', ids: null, filter: EVERYTHING };
  const steps = [];
  for (let step = 0; step < 3; step++) steps.push((await port.delete(all, write(tenant))).deleted);
  assert.deepEqual(steps, [1_000, 500, 0]);
  assert.deepEqual(await query(port, tenant, [1, 1]), []);
}

function once(port: () => VectorsPort): void {
  test('I3: one invocation acts once and is answered alike; another in its place is refused', async () => {
    const tenant = freshTenant();
    const call = write(tenant, { id: 'same', method: 'vectorStore.upsert', input: 1 });
    const first = { collection: 'c', metric: null, vectors: [vector('a', [1, 0])] };
    await port().upsert(first, call);
    await port().delete({ collection: 'c', ids: ['a'], filter: EVERYTHING }, write(tenant));
    assert.deepEqual(await port().upsert(first, { ...call, now: NOW + 60_000 }), { upserted: 1 });
    assert.deepEqual(await query(port(), tenant, [1, 0]), []);
    const otherInput = write(tenant, { id: 'same', method: 'vectorStore.upsert', input: 2 });
    assert.deepEqual(await port().upsert(first, otherInput), { upserted: 1 });
    const other = write(tenant, { id: 'same', method: 'vectorStore.delete', input: 1 });
    await assert.rejects(port().upsert(first, other), { code: 'idempotency_key_mismatch' });
  });

  test('I4: upserts that come at once all count', async () => {
    const tenant = freshTenant();
    const many = Array.from({ length: 20 }, (_, index) => [
      vector(`v${index}`, [index, 1]),
      vector('same', [1, 1]),
    ]);
    await Promise.all(many.map((vectors) => upsert(port(), tenant, vectors)));
    assert.equal((await query(port(), tenant, [1, 1], { k: 100 })).length, 21);
  });
}

function limits(port: () => VectorsPort): void {
  const { vectorsMax, collectionsMax, quotaBytes } = VECTORS_CONTRACT_LIMITS;
  test('a full collection or tenant is refused whole, another tenant is not; deleting makes room', async () => {
    const tenant = freshTenant();
    const fill = Array.from({ length: vectorsMax }, (_, index) => vector(`v${index}`, [1]));
    await upsert(port(), tenant, fill);
    await assert.rejects(upsert(port(), tenant, [vector('more', [1])]), {
      code: 'conflict',
      details: { vectorsMax },
    });
    await upsert(port(), tenant, [vector('v0', [2])]);
    const large = { text: 'x'.repeat(quotaBytes / 2) };
    await upsert(port(), tenant, [vector('a', [1], large)], { collection: 'large' });
    await assert.rejects(upsert(port(), tenant, [vector('b', [1], large)], { collection: 'large' }), {
      details: { quotaBytes },
    });
    await upsert(port(), freshTenant(), [vector('b', [1], large)], { collection: 'large' });
    await port().delete({ collection: 'large', ids: ['a'], filter: EVERYTHING }, write(tenant));
    await upsert(port(), tenant, [vector('b', [1], large)], { collection: 'large' });
  });

  test('collections are counted; empty ones make room', async () => {
    const tenant = freshTenant();
    for (let index = 0; index < collectionsMax; index++)
      await upsert(port(), tenant, [vector('a', [1])], { collection: `c${index}` });
    await assert.rejects(upsert(port(), tenant, [vector('a', [1])]), { details: { collectionsMax } });
    const other = freshTenant();
    const tries = Array.from({ length: collectionsMax + 8 }, (_, n) =>
      upsert(port(), other, [vector('a', [1])], { collection: `c${n}` }),
    );
    const made = (await Promise.allSettled(tries)).filter(({ status }) => status === 'fulfilled').length;
    assert.equal(made, collectionsMax, 'nor do those who make one at once pass the bound together');
    await port().delete({ collection: 'c7', ids: ['a'], filter: EVERYTHING }, write(tenant));
    await upsert(port(), tenant, [vector('a', [1])]);
    await assert.rejects(query(port(), tenant, [1], { collection: 'c7' }), {
      code: 'vector_collection_not_found',
    });
  });
}
