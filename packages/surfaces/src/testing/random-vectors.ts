/** Vectors that a seed gives again. */

export type Random = () => number;

/** Mulberry32. */
export function seededRandom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const normal = (random: Random): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

const vectorOf = (dimensions: number, random: Random): Float32Array =>
  Float32Array.from({ length: dimensions }, () => normal(random));

/** In no direction more than in another. */
export const randomVectors = (count: number, dimensions: number, random: Random): Float32Array[] =>
  Array.from({ length: count }, () => vectorOf(dimensions, random));

/** As embeddings of texts are: in groups around some of them. */
export function clusteredVectors(
  count: number,
  dimensions: number,
  random: Random,
  { clusters = 100, spread = 0.3 } = {},
): Float32Array[] {
  const centres = randomVectors(clusters, dimensions, random);
  return Array.from({ length: count }, () => {
    const centre = centres[Math.floor(random() * clusters)]!;
    return centre.map((value) => value + spread * normal(random));
  });
}
