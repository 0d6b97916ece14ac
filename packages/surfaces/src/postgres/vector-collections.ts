import type { Metric } from '../capabilities/vector/metric.ts';
import type { CollectionShape } from '../capabilities/vector/refusals.ts';
import type { Sql, Tx } from './connection.ts';

export interface VectorCollection extends CollectionShape {
  readonly id: number;
  readonly vectors: number;
}

interface Row {
  readonly id: number;
  readonly dimensions: number;
  readonly metric: Metric;
  readonly vectors: number;
}

export async function findVectorCollection(
  sql: Sql,
  tenant: string,
  name: string,
): Promise<VectorCollection | null> {
  const [row] = await sql<Row[]>`
    select id, dimensions, metric, vectors from vector_collections where tenant = ${tenant} and name = ${name}
  `;
  return row ?? null;
}

/** Other writers of the collection wait. */
export async function holdVectorCollection(
  tx: Tx,
  tenant: string,
  name: string,
): Promise<VectorCollection | null> {
  const [row] = await tx<Row[]>`
    select id, dimensions, metric, vectors from vector_collections
    where tenant = ${tenant} and name = ${name} for update
  `;
  return row ?? null;
}

export const arrayText = (vector: Float32Array): string => `{${vector.join(',')}}`;
