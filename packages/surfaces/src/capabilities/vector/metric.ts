/** How near two vectors are: more is nearer, whatever the metric. Threads load this file. */

export const METRICS = ['cosine', 'dot', 'l2'] as const;
export type Metric = (typeof METRICS)[number];

export interface Scored {
  readonly id: string;
  readonly score: number;
}

function dot(left: Float32Array, right: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < left.length; index++) sum += left[index]! * right[index]!;
  return sum;
}

export const norm = (vector: Float32Array): number => Math.sqrt(dot(vector, vector));

/** Databases compute with 32 bits, where squares of shorter vectors vanish: such are lengthened first. */
export const SHORT = 1e-12;

/** The same direction with a length near 1. Only exponents change, so nothing is rounded. */
export function lengthened(vector: Float32Array): Float32Array {
  const length = norm(vector);
  return length === 0 ? vector : vector.map((value) => value * 2 ** -Math.floor(Math.log2(length)));
}

/** A vector of zeros has no direction: its cosine with any other is 0. */
const ratio = (product: number, length: number): number => (length === 0 ? 0 : product / length);

/** cosine: -1 to 1; dot: the product; l2: 1 / (1 + distance). */
export function scoring(metric: Metric, query: Float32Array): (stored: Float32Array) => number {
  const length = norm(query);
  switch (metric) {
    case 'cosine':
      return (stored) => ratio(dot(query, stored), length * norm(stored));
    case 'dot':
      return (stored) => dot(query, stored);
    case 'l2':
      return (stored) => 1 / (1 + Math.sqrt(squaredDistance(query, stored)));
  }
}

function squaredDistance(left: Float32Array, right: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < left.length; index++) sum += (left[index]! - right[index]!) ** 2;
  return sum;
}

/** The k best; equal ones by id. */
export const best = <T extends Scored>(scored: readonly T[], k: number): T[] =>
  scored.toSorted((left, right) => right.score - left.score || (left.id < right.id ? -1 : 1)).slice(0, k);

/** Distances that a database computes are rounded: so many more are scored anew. */
export const SLACK = 16;
