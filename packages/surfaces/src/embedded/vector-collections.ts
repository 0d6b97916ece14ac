import type { DatabaseSync } from 'node:sqlite';
import type { Metric } from '../vector/metric.ts';
import type { CollectionShape } from '../vector/refusals.ts';

export interface VectorCollection extends CollectionShape {
  readonly id: number;
  readonly vectors: number;
  /** Number of the next row. */
  readonly next: number;
}

export function findingVectorCollection(database: DatabaseSync) {
  const find = database.prepare(
    'select id, dimensions, metric, vectors, next from vector_collections where tenant = ? and name = ?',
  );
  return (tenant: string, name: string): VectorCollection | null => {
    const row = find.get(tenant, name);
    if (!row) return null;
    return {
      id: Number(row.id),
      dimensions: Number(row.dimensions),
      metric: row.metric as Metric,
      vectors: Number(row.vectors),
      next: Number(row.next),
    };
  };
}

export const codesTable = (dimensions: number): string => `vector_codes_${dimensions}`;
