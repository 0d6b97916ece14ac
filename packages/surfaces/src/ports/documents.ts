/**
 * JSON documents of many tenants, in collections. The rows of a table are documents whose collection has columns.
 *
 * I1  Nothing is ever seen or changed beyond `tenant`, `space` and `collection`.
 * I2  A document has an `id`, unique in its collection, that never changes. Documents are in the order of their
 *     insertion unless sorted, and keep their place; so every document that stays is met once by whoever goes
 *     through the pages.
 * I3  As I3 of the kv port: a write is answered once for each invocation, and a refused one leaves no trace.
 * I4  A write is whole or not at all, beside all others: many documents, the columns that they add, the limits.
 * I5  Members of a document are in the order of their names, inner ones too, whatever order they were written in.
 */
import type { JsonObject } from '@gantry/protocol';
import type { PortRead, PortWrite } from '../calls/surface-call.ts';
import type { Columns } from '../capabilities/documents/columns.ts';
import type { Filter, SortField } from '../capabilities/documents/filter.ts';

export interface CollectionName {
  /** Keeps collections of different surfaces apart. */
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
  /** With its `id` as a member. */
  readonly document: JsonObject;
}

export interface FindQuery {
  readonly filter: Filter;
  readonly sort: readonly SortField[];
  /** `next` of the page before, of the same query. */
  readonly after: string | null;
  readonly limit: number;
}

export interface FoundPage {
  readonly documents: readonly JsonObject[];
  /** Null on the last page. */
  readonly next: string | null;
}

export interface CollectionFacts {
  /** Null where documents are free. */
  readonly columns: Columns | null;
  readonly indexes: readonly string[];
  readonly documents: number;
}

/** `typed`: a collection that is made by this write gets columns. */
export type Insertion = NewDocument & { readonly typed: boolean };

export type WhenNone =
  | { readonly do: 'answer' }
  /** `not_found`. */
  | { readonly do: 'refuse' }
  /** Fields that the next such call will look for are indexed, as far as there is room. */
  | ({ readonly do: 'insert'; readonly indexes: readonly string[] } & Insertion);

export const factsOf = ({ columns, indexes, documents }: CollectionFacts): CollectionFacts => ({
  columns,
  indexes,
  documents,
});

export interface Change {
  readonly filter: Filter;
  /** More than so many are refused with `validation_error`. */
  readonly matchesMax: number;
}

export interface Patched {
  readonly matched: number;
  readonly modified: number;
  /** Of the first that matched, or of the one that was inserted. */
  readonly id: string | null;
}

export interface DocumentsPort {
  get(which: CollectionName & { readonly id: string }, call: PortRead): Promise<JsonObject | null>;
  /** Shorter than its limit when documents are large. */
  find(query: CollectionName & FindQuery, call: PortRead): Promise<FoundPage>;
  count(which: CollectionName & { readonly filter: Filter }, call: PortRead): Promise<number>;
  describe(which: CollectionName, call: PortRead): Promise<CollectionFacts | null>;
  /** Fixes the columns. Refuses with `table_schema_violation` other columns, and rows that do not fit. */
  declare(
    collection: CollectionName & { readonly columns: Columns; readonly indexes: readonly string[] },
    call: PortWrite,
  ): Promise<null>;
  /** Refuses with `conflict` where there is a document with the id, and with the code of `DocumentLimits.full`. */
  insert(
    documents: CollectionName & { readonly documents: readonly NewDocument[]; readonly typed: boolean },
    call: PortWrite,
  ): Promise<null>;
  /** Replaces members by those of `patch`, as `documents/patch.ts` says. */
  patch(
    change: CollectionName & Change & { readonly patch: JsonObject; readonly whenNone: WhenNone },
    call: PortWrite,
  ): Promise<Patched>;
  delete(change: CollectionName & Change, call: PortWrite): Promise<{ deleted: number }>;
}

export interface DocumentLimits {
  readonly documentsMax: number;
  readonly documentBytesMax: number;
  /** Of each tenant in each space. */
  readonly collectionsMax: number;
  /** Of all documents of a tenant. */
  readonly quotaBytes: number;
  /** What a write beyond a limit of number or quota is refused with. */
  readonly full: 'table_row_limit_reached' | 'conflict';
  /** The code for a missing collection; null: it counts as empty. An undeclared one may go when empty. */
  readonly absent: 'table_not_found' | null;
}

export const INDEXES_MAX = 8;
/** An answer has to fit into one message. */
export const PAGE_BYTES_MAX = 8_388_608;
