/**
 * Rows of a collection lie together in the file when their sequences begin with its id. A sequence stays below 2^53,
 * so that it is exact as a number: there is room for 2 million collections with 4 billion rows each.
 */
const ROWS = 2 ** 32;

/** From the first to before the second. */
export const rangeOf = (collection: number): readonly [first: number, after: number] => [
  collection * ROWS,
  (collection + 1) * ROWS,
];

export const sequenceOf = (collection: number, row: number): number => collection * ROWS + row;
