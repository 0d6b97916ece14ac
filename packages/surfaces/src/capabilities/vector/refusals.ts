/** Refusals of vector operations, for every backend. Threads load this file. */
import type { VectorLimits } from '../../ports/vectors.ts';
import { Refusal } from '../../refusal.ts';
import type { Metric } from './metric.ts';

export interface CollectionShape {
  readonly dimensions: number;
  readonly metric: Metric;
}

const shown = (name: string): string => JSON.stringify(name.slice(0, 80));

export const noCollection = (name: string): Refusal =>
  new Refusal('vector_collection_not_found', {
    message: `There is no collection ${shown(name)}. Upsert vectors into it first.`,
  });

/** Throws `vector_dimension_mismatch`. */
export function checkDimensions(expected: number, actual: number): void {
  if (expected === actual) return;
  throw new Refusal('vector_dimension_mismatch', {
    message: `The collection holds vectors of ${expected} numbers, and this one has ${actual}. Use the same embedding model.`,
    details: { expected, actual },
  });
}

/** Throws `conflict` if the requested metric is not the collection's. */
export function checkMetric({ metric }: CollectionShape, asked: Metric | null): void {
  if (asked === null || asked === metric) return;
  throw new Refusal('conflict', {
    message: `The collection compares its vectors by ${metric}, not by ${asked}. Leave \`metric\` out, or use another collection.`,
  });
}

export function checkRoom(
  { vectors, usedBytes }: { readonly vectors: number; readonly usedBytes: number },
  { vectorsMax, quotaBytes }: VectorLimits,
): void {
  if (vectors > vectorsMax)
    throw new Refusal('conflict', {
      message: `A collection holds at most ${vectorsMax} vectors here. Delete some, or use several collections.`,
      details: { vectorsMax },
    });
  if (usedBytes > quotaBytes)
    throw new Refusal('conflict', {
      message:
        'The space for vectors of this tenant is full. Delete some, or ask the operator for a larger quota (GANTRY_QUOTAS).',
      details: { quotaBytes },
    });
}

export const tooManyCollections = ({ collectionsMax }: VectorLimits): Refusal =>
  new Refusal('conflict', {
    message: `There are ${collectionsMax} collections, the maximum. Empty one that is not needed.`,
    details: { collectionsMax },
  });
