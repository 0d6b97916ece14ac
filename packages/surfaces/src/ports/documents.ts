/**
 * JSON documents of many tenants, in collections. The rows of a table are documents whose collection has columns.
 *
 * I1  No call sees or changes anything outside its `tenant`, `space` and `collection`.
 * I2  A document has an `id`, unique in its collection, that never changes. Documents are in insertion order
 *     unless sorted, and keep their position; so paging returns every document that is not deleted exactly once.
 * I3  As I3 of the kv port: a write is answered once per invocation, and a refused one has no effect.
 * I4  A write is atomic: all its documents, the columns that they add, and the limits.
 * I5  Members of a document are ordered by name, also nested ones, whatever order they were written in.
 */
import type { JsonObject } from '@gantry/protocol';
import type { PortRead, PortWrite } from '../calls/surface-call.ts';
import type { Columns } from '../capabilities/documents/columns.ts';
import type { Filter, SortField } from '../capabilities/documents/filter.ts';

export interface CollectionName {
  /** Separates collections of different surfaces. */
  readonly space: string;
  readonly collection: string;
}

/** A collection of a tenant. */
export interface Target extends CollectionName {
  readonly tenant: string;
}

export const targetOf = (
  { tenant }: { readonly tenant: string },
  { space, collection }: CollectionName,
): Target => ({ tenant, space, collection });

export interface NewDocument {
  readonly id: string;
  /** Includes its `id` as a member. */
  readonly document: JsonObject;
}

export interface FindQuery {
  readonly filter: Filter;
  readonly sort: readonly SortField[];
  /** `next` of the previous page of the same query. */
  readonly after: string | null;
  readonly limit: number;
}

export interface FoundPage {
  readonly documents: readonly JsonObject[];
  /** Null on the last page. */
  readonly next: string | null;
}

export interface CollectionFacts {
  /** Null if the documents have no schema. */
  readonly columns: Columns | null;
  readonly indexes: readonly string[];
  readonly documents: number;
}

/** `typed`: if this write creates the collection, it gets columns. */
export type Insertion = NewDocument & { readonly typed: boolean };

export type WhenNone =
  | { readonly do: 'answer' }
  /** Refuses with `not_found`. */
  | { readonly do: 'refuse' }
  /** Indexes the fields that the next such call will search, up to the limit. */
  | ({ readonly do: 'insert'; readonly indexes: readonly string[] } & Insertion);

export const factsOf = ({ columns, indexes, documents }: CollectionFacts): CollectionFacts => ({
  columns,
  indexes,
  documents,
});

export interface Change {
  readonly filter: Filter;
  /** More matches are refused with `validation_error`. */
  readonly matchesMax: number;
}

export interface Patched {
  readonly matched: number;
  readonly modified: number;
  /** The id of the first match, or of the inserted document. */
  readonly id: string | null;
}

export interface DocumentsPort {
  get(which: CollectionName & { readonly id: string }, call: PortRead): Promise<JsonObject | null>;
  /** A page is shorter than its limit when documents are large. */
  find(query: CollectionName & FindQuery, call: PortRead): Promise<FoundPage>;
  count(which: CollectionName & { readonly filter: Filter }, call: PortRead): Promise<number>;
  describe(which: CollectionName, call: PortRead): Promise<CollectionFacts | null>;
  /** Fixes the columns. Refuses with `table_schema_violation` if other columns exist or rows do not fit. */
  declare(
    collection: CollectionName & { readonly columns: Columns; readonly indexes: readonly string[] },
    call: PortWrite,
  ): Promise<null>;
  /** Refuses with `conflict` if the id exists, and with the code of `DocumentLimits.full`. */
  insert(
    documents: CollectionName & { readonly documents: readonly NewDocument[]; readonly typed: boolean },
    call: PortWrite,
  ): Promise<null>;
  /** Replaces members by those of `patch` (see `documents/patch.ts`). */
  patch(
    change: CollectionName & Change & { readonly patch: JsonObject; readonly whenNone: WhenNone },
    call: PortWrite,
  ): Promise<Patched>;
  delete(change: CollectionName & Change, call: PortWrite): Promise<{ deleted: number }>;
}

export interface DocumentLimits {
  readonly documentsMax: number;
  readonly documentBytesMax: number;
  /** Per tenant and space. */
  readonly collectionsMax: number;
  /** Total of all documents of a tenant. */
  readonly quotaBytes: number;
  /** The code for exceeding the number of documents or the quota. */
  readonly full: 'table_row_limit_reached' | 'conflict';
  /** The code for a missing collection; null: it counts as empty. An undeclared one may be deleted when empty. */
  readonly absent: 'table_not_found' | null;
}

export const INDEXES_MAX = 8;
/** An answer must fit into one message. */
export const PAGE_BYTES_MAX = 8_388_608;
