/**
 * Vectors of many tenants, in collections, and nearest-neighbour queries.
 *
 * I1  No call sees or changes anything outside its `tenant` and `collection`, and data of others does not
 *     affect scores.
 * I2  The first vectors of a collection fix its dimensions and its metric, until it is empty again.
 * I3  As I3 of the kv port: a write is answered once per invocation, and a refused one has no effect.
 * I4  A write is atomic: all its vectors, and the limits.
 * I5  Matches are ordered by score, the best first. A score is computed from the stored vectors, with 32 bits
 *     for each number: equal vectors have equal scores in every backend. A backend may omit a match only in
 *     favour of another that is as near within the recall that it promises.
 */
import type { JsonObject } from '@gantry/protocol';
import type { PortRead, PortWrite } from '../calls/surface-call.ts';
import type { Filter } from '../capabilities/documents/filter.ts';
import type { Metric } from '../capabilities/vector/metric.ts';

export interface NewVector {
  readonly id: string;
  readonly embedding: Float32Array;
  readonly metadata: JsonObject | null;
}

export interface VectorMatch {
  readonly id: string;
  readonly score: number;
  readonly metadata: JsonObject | null;
}

export interface VectorQuery {
  readonly collection: string;
  readonly embedding: Float32Array;
  readonly k: number;
  readonly filter: Filter;
}

export interface VectorUpsert {
  readonly collection: string;
  /** Null: the metric of the collection, else cosine. */
  readonly metric: Metric | null;
  /** The last vector with an id wins. */
  readonly vectors: readonly NewVector[];
}

export interface VectorDeletion {
  readonly collection: string;
  /** Null: any id. */
  readonly ids: readonly string[] | null;
  readonly filter: Filter;
}

/** Refuses with `vector_collection_not_found`, `vector_dimension_mismatch` and, beyond a limit, with `conflict`. */
export interface VectorsPort {
  upsert(vectors: VectorUpsert, call: PortWrite): Promise<{ upserted: number }>;
  query(query: VectorQuery, call: PortRead): Promise<readonly VectorMatch[]>;
  /** At most `VectorLimits.deletedMax`: an unbounded transaction would block other writers. */
  delete(which: VectorDeletion, call: PortWrite): Promise<{ deleted: number }>;
  health(): Promise<void>;
}

export interface VectorLimits {
  readonly vectorsMax: number;
  /** Per tenant. */
  readonly collectionsMax: number;
  /** Total of all vectors of a tenant with their ids and metadata. */
  readonly quotaBytes: number;
  /** Per call. */
  readonly deletedMax: number;
}
