/**
 * Full text of many tenants, in indexes.
 *
 * I1  Nothing is ever seen or changed beyond `tenant` and `index`, and nothing that others keep changes a score.
 * I2  A document is found by its words (`search/words.ts`), ranked by BM25 with k1 = 1.2 and b = 0.75 over the
 *     documents of its index. Where fewer than `k` are found so, documents follow that hold the query as it stands,
 *     be it a part of a word; their scores are less than any by words, and more than 0.
 * I3  As I3 of the kv port: a write is answered once for each invocation, and a refused one leaves no trace.
 * I4  A write is whole or not at all: all of its documents, the limits.
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

/** Refuses with `search_index_not_found` and, beyond a limit, with `conflict`. */
export interface SearchPort {
  /** Replaces documents with the same ids; of several in the call the last one stays. */
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
  /** Of each tenant. */
  readonly indexesMax: number;
  /** Of all documents of a tenant. */
  readonly quotaBytes: number;
}
