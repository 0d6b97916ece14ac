import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clusteredVectors, type Random, randomVectors, seededRandom } from '../../testing/random-vectors.ts';
import { best, candidatesFor, encode, isConclusive, scoring } from './metric.ts';

const [COUNT, DIMENSIONS, K, QUERIES] = [4_000, 64, 10, 12];

interface Outcome {
  readonly conclusive: number;
  /** Of the looks that were conclusive. */
  readonly recall: number;
}

function distance(left: Int8Array, right: Int8Array): number {
  let sum = 0;
  for (let index = 0; index < left.length; index++) sum += (left[index]! - right[index]!) ** 2;
  return Math.sqrt(sum);
}

function look(made: readonly Float32Array[]): Outcome {
  const vectors = made.slice(0, COUNT);
  const codes = vectors.map(encode);
  let [conclusive, found] = [0, 0];
  for (const query of made.slice(COUNT)) {
    const scoreOf = scoring('cosine', query);
    const code = encode(query);
    const scored = vectors.map((vector, index) => ({
      id: String(index),
      score: scoreOf(vector),
      distance: distance(code, codes[index]!),
    }));
    const nearest = new Set(best(scored, K).map(({ id }) => id));
    const candidates = scored
      .toSorted((left, right) => left.distance - right.distance)
      .slice(0, candidatesFor(K));
    if (!isConclusive(candidates, { k: K, dimensions: DIMENSIONS })) continue;
    conclusive++;
    found += best(candidates, K).filter(({ id }) => nearest.has(id)).length;
  }
  return { conclusive: conclusive / QUERIES, recall: found / (K * conclusive) };
}

const SETS: Readonly<Record<string, (count: number, dimensions: number, random: Random) => Float32Array[]>> =
  {
    random: randomVectors,
    clustered: clusteredVectors,
  };

for (const [name, make] of Object.entries(SETS))
  test(`codes of ${name} vectors find the ten nearest`, () => {
    const { conclusive, recall } = look(make(COUNT + QUERIES, DIMENSIONS, seededRandom(11)));
    assert.ok(conclusive >= 0.5, `${conclusive} were conclusive`);
    assert.ok(recall >= 0.98, `recall ${recall}`);
  });

test('vectors that codes cannot tell apart are not judged by them', () => {
  const random = seededRandom(12);
  const close = clusteredVectors(COUNT + QUERIES, DIMENSIONS, random, { clusters: 1, spread: 0.001 });
  assert.equal(look(close).conclusive, 0);
  const candidates = [3, 1, 2].map((tenth) => ({ distance: 0, score: 1 - tenth / 1e6 }));
  assert.equal(isConclusive(candidates, { k: 1, dimensions: DIMENSIONS }), false);
});

test('codes hold a direction alone, whatever its length', () => {
  assert.deepEqual([...encode(new Float32Array([3, -4]))], [76, -102]);
  assert.deepEqual(encode(new Float32Array([3e10, -4e10])), encode(new Float32Array([3, -4])));
  assert.deepEqual([...encode(new Float32Array(3))], [0, 0, 0]);
});
