/**
 * Full text of many tenants, in indexes.
 *
 * I1  No call sees or changes anything outside its `tenant` and `index`, and data of others does not affect scores.
 * I2  A document is found by its words (`search/words.ts`), ranked by BM25 with k1 = 1.2 and b = 0.75 over the
 *     documents of its index. If fewer than `k` are found, documents follow that contain the literal query,
 *     also as part of a word; their scores are lower than any by words, and more than 0.
 * I3  As I3 of the kv port: a write is answered once per invocation, and a refused one has no effect.
 * I4  A write is atomic: all its documents, and the limits.
 */
import type { PortRead, PortWrite } from '../calls/surface-call.ts';
import type { Filter } from '../capabilities/documents/filter.ts';
import type { ParsedQuery } from '../capabilities/search/parse-query.ts';

export type Fields = Readonly<Record<string, string | number | boolean>>;

export interface SearchDocument {
  readonly id: string;
  readonly fields: Fields;
}

export interface SearchHit extends SearchDocument {
  readonly score: number;
}

export interface SearchQuery {
  readonly index: string;
  readonly query: ParsedQuery;
  readonly k: number;
  readonly filter: Filter;
}

/** Refuses with `search_index_not_found`, and with `conflict` beyond a limit. */
export interface SearchPort {
  /** Replaces documents with the same ids; the last one with an id in the call wins. */
  index(
    documents: { readonly index: string; readonly documents: readonly SearchDocument[] },
    call: PortWrite,
  ): Promise<{ indexed: number }>;
  query(query: SearchQuery, call: PortRead): Promise<readonly SearchHit[]>;
  delete(
    which: { readonly index: string; readonly ids: readonly string[] },
    call: PortWrite,
  ): Promise<{ deleted: number }>;
  health(): Promise<void>;
}

export interface SearchLimits {
  readonly documentsMax: number;
  /** Per tenant. */
  readonly indexesMax: number;
  /** Total of all documents of a tenant. */
  readonly quotaBytes: number;
}
