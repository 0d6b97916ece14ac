/** The vectors port beside a look at every vector. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { EVERYTHING, type Filter, isEqual } from '../capabilities/documents/filter.ts';
import { best, METRICS, type Metric, scoring } from '../capabilities/vector/metric.ts';
import { freshTenant, read, write } from '../testing/calls.ts';
import { matches } from '../testing/filter-model.ts';
import { clusteredVectors, randomVectors, seededRandom } from '../testing/random-vectors.ts';
import type { NewVector, VectorsPort } from './vectors.ts';

interface Case {
  readonly metric: Metric;
  readonly vectors: readonly NewVector[];
  readonly query: Float32Array;
  readonly k: number;
  readonly filter: Filter;
}

const number = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.float({ min: -100, max: 100, noNaN: true }));
const filter = fc.oneof(
  fc.constant(EVERYTHING),
  fc.integer({ min: 0, max: 3 }).map((group) => isEqual(['group'], group)),
  fc.integer({ min: 0, max: 3 }).map((group): Filter => ({ kind: 'not', of: isEqual(['group'], group) })),
);
const anyCase = fc.integer({ min: 1, max: 6 }).chain((dimensions) => {
  const embedding = fc
    .array(number, { minLength: dimensions, maxLength: dimensions })
    .map((numbers) => Float32Array.from(numbers));
  const metadata = fc.option(fc.record({ group: fc.integer({ min: 0, max: 3 }) }), { nil: null });
  const vectors = fc.uniqueArray(fc.record({ id: fc.stringMatching(/^[a-z]{1,3}$/), embedding, metadata }), {
    minLength: 1,
    maxLength: 25,
    selector: ({ id }) => id,
  });
  const k = fc.integer({ min: 1, max: 30 });
  return fc.record({ metric: fc.constantFrom(...METRICS), vectors, query: embedding, k, filter });
});

const expected = ({ metric, vectors, query, k, filter: asked }: Case) => {
  const scoreOf = scoring(metric, query);
  const all = vectors.filter(({ metadata }) => matches(metadata ?? {}, asked));
  return best(
    all.map(({ id, embedding }) => ({ id, score: scoreOf(embedding) })),
    k,
  );
};

const scoresOf = (found: readonly { readonly score: number }[]): number[] => found.map(({ score }) => score);

function assertSame(actual: readonly number[], wanted: readonly number[]): void {
  assert.equal(actual.length, wanted.length);
  for (const [index, score] of wanted.entries())
    assert.ok(
      Math.abs(score - actual[index]!) <= 1e-6 * Math.max(1, Math.abs(score)),
      `${actual} for ${wanted}`,
    );
}

/** Ids of vectors that score alike may differ where the answer is cut, so scores are compared. */
export async function vectorsModelProperty(port: VectorsPort): Promise<void> {
  await fc.assert(
    fc.asyncProperty(anyCase, async (each) => {
      const tenant = freshTenant();
      const { metric, vectors, query: embedding, k, filter: asked } = each;
      await port.upsert({ collection: 'c', metric, vectors }, write(tenant));
      const found = await port.query({ collection: 'c', embedding, k, filter: asked }, read(tenant));
      assertSame(scoresOf(found), scoresOf(expected(each)));
    }),
    { numRuns: 60 },
  );
}

/** More than a backend reads one by one; some of them differ by less than a code or a rounded distance can tell. */
export async function vectorsPrecision(port: VectorsPort): Promise<void> {
  const random = seededRandom(7);
  const dimensions = 24;
  const sets = {
    random: randomVectors(1_500, dimensions, random),
    clustered: clusteredVectors(1_500, dimensions, random),
    close: clusteredVectors(1_500, dimensions, random, { clusters: 1, spread: 0.0005 }),
  };
  for (const [collection, embeddings] of Object.entries(sets)) {
    const tenant = freshTenant();
    const vectors = embeddings.map((embedding, index) => ({ id: `v${index}`, embedding, metadata: null }));
    await port.upsert({ collection, metric: null, vectors }, write(tenant));
    for (let index = 0; index < 1_500; index += 300) {
      const query = embeddings[index]!;
      const found = await port.query(
        { collection, embedding: query, k: 5, filter: EVERYTHING },
        read(tenant),
      );
      const wanted = expected({ metric: 'cosine', vectors, query, k: 5, filter: EVERYTHING });
      assert.equal(found[0]?.id, `v${index}`);
      assertSame(scoresOf(found), scoresOf(wanted));
    }
  }
}
