/**
 * Vectors of many tenants, in collections, and the nearest of them.
 *
 * I1  Nothing is ever seen or changed beyond `tenant` and `collection`, and nothing that others keep changes a score.
 * I2  The first vectors of a collection fix its dimensions and its metric, until it is empty again.
 * I3  As I3 of the kv port: a write is answered once for each invocation, and a refused one leaves no trace.
 * I4  A write is whole or not at all: all of its vectors, the limits.
 * I5  Matches are in the order of their scores, the best first. A score is computed from the vectors as they are
 *     kept, with 32 bits for each number: equal vectors score alike in every backend. A backend may leave out a match
 *     only for another that is as near within the recall that it promises.
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
  /** Null: as the collection has it, else cosine. */
  readonly metric: Metric | null;
  /** Of several with the same id the last one stays. */
  readonly vectors: readonly NewVector[];
}

export interface VectorDeletion {
  readonly collection: string;
  /** Null: whatever its id. */
  readonly ids: readonly string[] | null;
  readonly filter: Filter;
}

/** Refuses with `vector_collection_not_found`, `vector_dimension_mismatch` and, beyond a limit, with `conflict`. */
export interface VectorsPort {
  upsert(vectors: VectorUpsert, call: PortWrite): Promise<{ upserted: number }>;
  query(query: VectorQuery, call: PortRead): Promise<readonly VectorMatch[]>;
  /** At most `VectorLimits.deletedMax`: a transaction without end would keep others waiting. */
  delete(which: VectorDeletion, call: PortWrite): Promise<{ deleted: number }>;
  health(): Promise<void>;
}

export interface VectorLimits {
  readonly vectorsMax: number;
  /** Of each tenant. */
  readonly collectionsMax: number;
  /** Of all vectors of a tenant with their ids and metadata. */
  readonly quotaBytes: number;
  /** By one call. */
  readonly deletedMax: number;
}
