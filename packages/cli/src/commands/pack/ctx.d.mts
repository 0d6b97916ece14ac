// What a node is called with, for editors and type checkers; an archive of the pack leaves it out.
// Above a function: /** @param {import('./ctx.d.mts').Ctx<{ name: string }>} ctx */

/** What the code of a pack gets and gives, beside the surfaces. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [name: string]: Json };

/** `{ field: value }` or `{ "field.inner": { $gt: 1 } }`; see `nosql` in docs/capabilities.md. */
export type Filter = JsonObject;
export type Fields = { readonly [name: string]: string | number | boolean };
export type SqlValue = Json | Uint8Array;
/** In the order of `?` or `$1`, or by the names of `:name`. */
export type SqlParams = readonly SqlValue[] | { readonly [name: string]: SqlValue };
export type SqlRow = { [column: string]: SqlValue };

export interface NodeError {
  readonly code: string;
  readonly message: string;
  readonly details?: JsonObject;
}

/** Made by `terminate` and `applyErrorDirective`; return it. */
export interface Ending {
  readonly status: 'terminate' | 'directive';
}

export type NodeResult =
  | { readonly status: 'success'; readonly outputs: JsonObject }
  | { readonly status: 'error'; readonly error: NodeError & { readonly retryable?: boolean } }
  | Ending;

export interface SuspendRequest {
  /** `approval`, `clarification`, `webhook`, `duration`, `until`, or a word of your own. */
  readonly kind: string;
  readonly prompt?: string;
  /** Tells the questions of a node apart; its order does, without. */
  readonly key?: string;
  readonly timeoutMs?: number;
  /** A JSON Schema that the answer has to fit. */
  readonly answerSchema?: JsonObject;
  readonly [more: string]: Json | undefined;
}

export interface SideEffects {
  /** Claims an effect. Act only when it is `acquired`. */
  tryAcquire(effect: { readonly idempotencyKey: string; readonly effectType?: string }): {
    readonly state: 'acquired' | 'duplicate' | 'in-flight';
    readonly effectId: string;
    readonly previousResult?: Json;
  };
  markCompleted(effectId: string, result?: Json): null;
  /** The effect may then be tried again. */
  markFailed(effectId: string, message?: string): null;
}

/** What the host does not offer is absent: where a pack can do without, ask `typeof ctx.emit === 'function'`. */
export interface NodeCtx<Inputs, Config> {
  readonly inputs: Inputs;
  readonly config: Config;
  readonly runId: string;
  readonly nodeId: string;
  readonly tenantId: string;
  readonly userId?: string;
  /** What the trigger brought, for runs that one started. */
  readonly triggerData?: JsonObject;
  readonly trustBoundary: 'trusted' | 'untrusted';
  /** 0, and 1 more for each retry. */
  readonly attempt: number;
  /** What the run was started with under that name. */
  readonly configurable: JsonObject;
  /** Aborted when the run is cancelled or the time is over. */
  readonly signal: AbortSignal;
  /** A line of the run's log. */
  log(level: 'debug' | 'info' | 'warn' | 'error', message: string, data?: JsonObject): void;
  /** Progress, while the node runs. */
  emit(event: { readonly type: string; readonly data?: JsonObject }): Promise<void>;
  /** The run's variables; what is set counts when the node completes. */
  readonly variables: {
    get(name: string): Json | undefined;
    set(name: string, value: Json): void;
  };
  /** Waits for a person or an event. The node then runs again from its top, and the same call answers. */
  suspend(request: SuspendRequest): Promise<Json>;
  /** Do something once, however often the node runs. Not in a pure node. */
  readonly sideEffects: SideEffects;
  /** Starts a workflow and waits for it; throws `child_failed`. Not in a pure node. */
  invokeSubWorkflow(call: { readonly workflowRef: string; readonly inputs?: JsonObject }): Promise<{
    readonly runId: string;
    readonly status: 'completed';
    readonly outputs: JsonObject;
  }>;
  /** `return ctx.terminate(…)` ends the whole run, as failed. */
  terminate(error: NodeError): Ending;
  /** For nodes that handle failures: `resume` goes on with `fallback`, `ignore` without, `break` ends the run. */
  applyErrorDirective(request: {
    readonly directive: 'resume' | 'ignore' | 'break';
    readonly fallback?: Json;
    readonly upstreamError?: Json;
  }): Ending;
}

/**
 * `ctx.storage.kv`: A key-value store with time to live and atomic operations. Each tenant sees its own keys
 * only. `namespace` keeps keys apart and has up to 128 characters; it is empty unless given. A node may write
 * to it 100,000 times, as to every capability.
 *
 * Named `host.kvStorage` in peerDependencies.
 * Limits: maxKeyBytes 256, maxValueBytes 1,048,576, maxTtlSeconds 2,592,000.
 * Failures: kv_key_too_large, kv_value_too_large, kv_ttl_exceeds_max, kv_quota_exhausted.
 */
export interface KvStorage {
  /** The value, or nothing when there is none or its time is over. Reads. */
  get(input: {
    key: string;
    /** At most 128 characters. */
    namespace?: string;
  }): Promise<{
    value?: Json;
    /** ISO 8601. */
    expiresAt?: string;
  }>;
  /** Keeps a value, for `ttlSeconds` or for good. Writes: not in a pure node. */
  put(input: {
    key: string;
    /** At most 128 characters. */
    namespace?: string;
    value: Json;
    /** A number above 0. */
    ttlSeconds?: number;
  }): Promise<{ ok: true; replaced: boolean }>;
  /** Removes a key. Writes: not in a pure node. */
  delete(input: {
    key: string;
    /** At most 128 characters. */
    namespace?: string;
  }): Promise<{ deleted: boolean }>;
  /**
   * Keys in byte order, page by page. A page has 100 entries, or as many as `limit` says; above 1,000 it is
   * taken for that. Reads.
   */
  list(input: {
    /** At most 128 characters. */
    namespace?: string;
    /** At most 1,024 characters. */
    prefix?: string;
    /** At most 4,096 characters. */
    cursor?: string;
    /** A whole number from 1. */
    limit?: number;
  }): Promise<{ entries: { key: string }[]; nextCursor?: string }>;
  /**
   * Adds `delta` (1) to a number, from 0 where there is none. The time to live stays. Writes: not in a pure
   * node. Needs `atomicIncrement`.
   */
  atomicIncrement(input: {
    key: string;
    /** At most 128 characters. */
    namespace?: string;
    delta?: number;
  }): Promise<{ value: number; previous: number }>;
  /**
   * Writes `newValue` if the value equals `expectedValue` as JSON; none or null also stands for no value. The
   * time to live stays. Writes: not in a pure node. Needs `compareAndSwap`.
   */
  compareAndSwap(input: {
    key: string;
    /** At most 128 characters. */
    namespace?: string;
    expectedValue?: Json;
    newValue: Json;
  }): Promise<{ swapped: boolean; actual?: Json }>;
}

/**
 * `ctx.storage.cache`: A cache with time to live. Each tenant sees its own values only and has its own room;
 * what was used longest ago leaves first. `namespace` keeps keys apart and has up to 128 characters; it is
 * empty unless given.
 *
 * Named `host.cache` in peerDependencies.
 * Limits: maxValueBytes 1,048,576, maxTtlSeconds 86,400.
 * Failures: cache_value_too_large, cache_ttl_exceeds_max.
 */
export interface Cache {
  /** The value, or nothing. Reads. */
  get(input: {
    /** At most 4,096 characters. */
    key: string;
    /** At most 128 characters. */
    namespace?: string;
  }): Promise<{
    value?: Json;
    /** ISO 8601. */
    storedAt?: string;
    /** ISO 8601. */
    expiresAt?: string;
  }>;
  /** Keeps a value for at most `ttlSeconds`. Writes: not in a pure node. */
  put(input: {
    /** At most 4,096 characters. */
    key: string;
    /** At most 128 characters. */
    namespace?: string;
    value: Json;
    /** A number above 0. */
    ttlSeconds: number;
  }): Promise<{ ok: true }>;
  /** Removes a value. Writes: not in a pure node. */
  delete(input: {
    /** At most 4,096 characters. */
    key: string;
    /** At most 128 characters. */
    namespace?: string;
  }): Promise<{ deleted: boolean }>;
  /** Removes a value, or without a key every value of the namespace. Writes: not in a pure node. */
  evict(input: {
    /** At most 4,096 characters. */
    key?: string;
    /** At most 128 characters. */
    namespace?: string;
  }): Promise<{ evicted: number }>;
}

/**
 * `ctx.storage.table`: Tables of rows with typed columns. Each tenant sees its own tables only. A row has an
 * `id`, which is its `rowId`; one without gets a new one, a text. Columns are declared, or get the type of
 * their first value. `insert` and `upsert` make a table that is not there; every other method refuses it with
 * `table_not_found`. Filters are those of `nosql`; on a declared table, one that names a column which is not
 * there is refused, and so are `orderBy` and `patch`.
 *
 * Named `host.tableStorage` in peerDependencies.
 * Limits: maxRowsPerTable 250,000, maxColumnsPerRow 64.
 * Failures: table_schema_violation, table_row_limit_reached, table_not_found, not_found, conflict.
 */
export interface TableStorage {
  /**
   * Declares the columns of a table; it then has no others. One that rows have made is closed so, if all of
   * them fit. `id` needs no declaration. The type of a column is `string`, `number`, `boolean` or `json`.
   * Equality on columns in `indexes` is answered without reading every row. Writes: not in a pure node.
   */
  createTable(input: {
    /** At most 128 characters. */
    name: string;
    schema: { [name: string]: 'string' | 'number' | 'boolean' | 'json' };
    /** At most 8 of them. */
    indexes?: readonly string[];
  }): Promise<{ ok: true }>;
  /** Adds a row; the first one makes the table. Writes: not in a pure node. */
  insert(input: {
    /** At most 128 characters. */
    table: string;
    row: JsonObject;
  }): Promise<{ rowId: string }>;
  /** The row, or nothing. Reads. */
  get(input: {
    /** At most 128 characters. */
    table: string;
    /** At most 4,096 characters. */
    rowId: string;
  }): Promise<{ row?: { [name: string]: unknown } }>;
  /**
   * Rows that match, in the order of insertion or by `orderBy` (`name`, `-age` for backwards), page by page;
   * `nextCursor` is null on the last. A page has 100 entries, or as many as `limit` says; above 1,000 it is
   * taken for that. Reads.
   */
  query(input: {
    /** At most 128 characters. */
    table: string;
    filter?: Filter;
    /** At most 8 of them. */
    orderBy?: readonly string[];
    cursor?: string | null;
    /** A whole number from 1. */
    limit?: number;
  }): Promise<{ rows: { [name: string]: unknown }[]; nextCursor: string | null }>;
  /** How many rows match. Reads. */
  count(input: {
    /** At most 128 characters. */
    table: string;
    filter?: Filter;
  }): Promise<{ count: number }>;
  /** Replaces the columns of `patch` in one row. Writes: not in a pure node. */
  update(input: {
    /** At most 128 characters. */
    table: string;
    /** At most 4,096 characters. */
    rowId: string;
    patch: JsonObject;
  }): Promise<{ ok: true }>;
  /** Replaces the columns of `patch` in all rows that match. Writes: not in a pure node. */
  updateWhere(input: {
    /** At most 128 characters. */
    table: string;
    filter: Filter;
    patch: JsonObject;
  }): Promise<{ updated: number }>;
  /**
   * Changes the row that has the same values in `keyColumns` (`id`), or inserts one. The key columns are
   * indexed. Writes: not in a pure node.
   */
  upsert(input: {
    /** At most 128 characters. */
    table: string;
    row: JsonObject;
    /** At most 8 of them. */
    keyColumns?: readonly string[];
  }): Promise<{ rowId: string; inserted: boolean }>;
  /** Removes a row. Writes: not in a pure node. */
  delete(input: {
    /** At most 128 characters. */
    table: string;
    /** At most 4,096 characters. */
    rowId: string;
  }): Promise<{ deleted: boolean }>;
  /** Removes all rows that match. Writes: not in a pure node. */
  deleteWhere(input: {
    /** At most 128 characters. */
    table: string;
    filter: Filter;
  }): Promise<{ deleted: number }>;
}

/**
 * `ctx.db.nosql`: Collections of JSON documents in a data source, `primary` unless said otherwise. Each
 * tenant sees its own only. A document has an `id`, which is a text: one that is a number is kept as text,
 * one without gets a new one. Filters are `{ field: value }` or `{ "field.inner": { $gt: 1 } }` with `$eq $ne
 * $gt $gte $lt $lte $in $nin $exists $and $or $not`; a field that is not there equals null, lists are
 * compared whole, and only numbers with numbers and texts with texts are greater or less. Anything else is
 * refused.
 *
 * Named `host.nosql` in peerDependencies.
 * Failures: datasource_not_found, datasource_access_denied, nosql_filter_rejected, not_found, conflict.
 */
export interface Nosql {
  /** Adds a document. Writes: not in a pure node. */
  insert(input: {
    /** At most 64 characters. */
    datasourceId?: string;
    /** At most 128 characters. */
    collection: string;
    doc: JsonObject;
  }): Promise<{ id: string }>;
  /** Adds documents, all or none. Writes: not in a pure node. */
  insertMany(input: {
    /** At most 64 characters. */
    datasourceId?: string;
    /** At most 128 characters. */
    collection: string;
    /** At most 1,000 of them. */
    docs: readonly JsonObject[];
  }): Promise<{ inserted: number; ids: string[] }>;
  /** The document, or nothing. Reads. */
  get(input: {
    /** At most 64 characters. */
    datasourceId?: string;
    /** At most 128 characters. */
    collection: string;
    /** At most 4,096 characters. */
    id: string;
  }): Promise<{ doc?: { [name: string]: unknown } }>;
  /**
   * Documents that match, in the order of insertion or by `sort` (`{ name: 1, age: -1 }`), page by page. A
   * page has 100 entries, or as many as `limit` says; above 1,000 it is taken for that. `projection` names
   * the members to give (`1`) or to leave out (`0`). What takes longer than 10 s is ended. Reads.
   */
  query(input: {
    /** At most 64 characters. */
    datasourceId?: string;
    /** At most 128 characters. */
    collection: string;
    filter: Filter;
    sort?: Filter;
    projection?: Filter;
    /** At most 4,096 characters. */
    cursor?: string;
    /** A whole number from 1. */
    limit?: number;
  }): Promise<{ docs: { [name: string]: unknown }[]; nextCursor?: string }>;
  /**
   * Replaces the members of `patch` in one document; `x.y` is the member `y` of the object `x`. Writes: not
   * in a pure node.
   */
  update(input: {
    /** At most 64 characters. */
    datasourceId?: string;
    /** At most 128 characters. */
    collection: string;
    /** At most 4,096 characters. */
    id: string;
    patch: JsonObject;
  }): Promise<{ ok: true }>;
  /**
   * Replaces the members of `update`, or of its `$set`, in all documents that match, inner ones by `x.y`.
   * With `upsert`, where none does, one is inserted from the equalities of the filter and the update. Writes:
   * not in a pure node.
   */
  updateWhere(input: {
    /** At most 64 characters. */
    datasourceId?: string;
    /** At most 128 characters. */
    collection: string;
    filter: Filter;
    update: JsonObject;
    upsert?: boolean;
  }): Promise<{ matched: number; modified: number }>;
  /** Removes a document. Writes: not in a pure node. */
  delete(input: {
    /** At most 64 characters. */
    datasourceId?: string;
    /** At most 128 characters. */
    collection: string;
    /** At most 4,096 characters. */
    id: string;
  }): Promise<{ deleted: boolean }>;
  /** Removes all documents that match. Writes: not in a pure node. */
  deleteWhere(input: {
    /** At most 64 characters. */
    datasourceId?: string;
    /** At most 128 characters. */
    collection: string;
    filter: Filter;
  }): Promise<{ deleted: number }>;
}

/**
 * `ctx.db.sql`: SQL on data sources of the tenant; `primary` is there unless the operator says otherwise.
 * Values go through `params` only: text in a statement, or a number where rows are chosen or written, is
 * refused. A list or an object in `params` is kept and compared as its JSON text, but not inside `in (...)`:
 * that takes a mark for each value.
 *
 * Named `host.sql` in peerDependencies.
 * Failures: sql_non_parametric, datasource_not_found, datasource_access_denied, sql_syntax_error,
 * sql_transaction_aborted, storage_unavailable, effect_in_doubt.
 */
export interface Sql {
  /** Rows of one SELECT, WITH or VALUES. Parameters are ?, $1 or :name, on every driver. Reads. */
  query(input: {
    /** At most 4,096 characters. */
    datasourceId?: string;
    sql: string;
    params?: SqlParams;
  }): Promise<{ rows: SqlRow[]; rowCount: number }>;
  /**
   * Rows of one SELECT over `tables`: rows by the name of their table, in memory, for this call alone. Reads.
   */
  queryTables(input: {
    sql: string;
    params?: SqlParams;
    tables: { [name: string]: readonly unknown[] };
  }): Promise<{ rows: SqlRow[]; rowCount: number }>;
  /** One INSERT, UPDATE, DELETE, or a definition of a table, index or view. Writes: not in a pure node. */
  execute(input: {
    /** At most 4,096 characters. */
    datasourceId?: string;
    sql: string;
    params?: SqlParams;
  }): Promise<{ rowsAffected: number }>;
  /**
   * Statements as of `execute`, all or none. MySQL takes no definitions here. Writes: not in a pure node.
   * Needs `transactions`.
   */
  transaction(input: {
    /** At most 4,096 characters. */
    datasourceId?: string;
    /** At most 200 of them. */
    operations: readonly { sql: string; params?: SqlParams }[];
  }): Promise<{ committed: true; results: { rowsAffected: number }[] }>;
}

/**
 * `ctx.db.vector`: Collections of vectors with up to 4096 numbers, and the nearest to a given one. Each
 * tenant sees its own only. The first upsert makes a collection and fixes its dimensions and its metric:
 * `cosine` unless said otherwise, `dot`, or `l2`, whose score is 1 / (1 + distance). More is nearer. Filters
 * choose by metadata, as those of `nosql` do.
 *
 * Named `host.vectorStore` in peerDependencies.
 * Failures: vector_collection_not_found, vector_dimension_mismatch, conflict.
 */
export interface VectorStore {
  /**
   * Adds vectors, or replaces those with the same ids, all or none: at most 1000, each with at most 16384
   * bytes of metadata. Writes: not in a pure node.
   */
  upsert(input: {
    /** At most 128 characters. */
    collection: string;
    /** At most 1,000 of them. */
    vectors: readonly {
      /** At most 128 characters. */
      id: string;
      /** At most 4,096 of them. */
      embedding: readonly number[];
      metadata?: JsonObject;
    }[];
    metric?: 'cosine' | 'dot' | 'l2';
  }): Promise<{ upserted: number }>;
  /** The `k` (up to 500) nearest vectors, the nearest first. What takes longer than 10 s is ended. Reads. */
  query(input: {
    /** At most 128 characters. */
    collection: string;
    /** At most 4,096 of them. */
    embedding: readonly number[];
    /** A whole number from 1 up to 500. */
    k: number;
    filter?: Filter;
  }): Promise<{
    matches: { id: string; score: number; metadata?: { [name: string]: unknown } }[];
  }>;
  /** Removes vectors by id. Writes: not in a pure node. */
  delete(input: {
    /** At most 128 characters. */
    collection: string;
    /** At most 10,000 of them. */
    ids: readonly string[];
  }): Promise<{ deleted: number }>;
  /**
   * Removes vectors whose metadata match; with `ids`, only such of those. At most 100000 in one call: call it
   * again until it answers 0. Writes: not in a pure node.
   */
  deleteWhere(input: {
    /** At most 128 characters. */
    collection: string;
    filter: Filter;
    /** At most 10,000 of them. */
    ids?: readonly string[];
  }): Promise<{ deleted: number }>;
}

/**
 * `ctx.db.search`: Full text, ranked by BM25. Each tenant sees its own indexes only. A query is words: a
 * document needs one of them, and the more and the rarer the better. `"some words"` stand beside each other,
 * `-word` must not be there, `wor*` is a beginning. Case and accents do not count. When the words find fewer
 * than `k`, documents follow that hold the query as it stands, be it a part of a word. Filters choose by
 * fields, as those of `nosql` do.
 *
 * Named `host.searchIndex` in peerDependencies.
 * Failures: search_index_not_found, search_query_syntax_error, conflict.
 */
export interface SearchIndex {
  /**
   * Adds documents, or replaces those with the same ids, all or none: at most 1000, each of at most 65536
   * bytes, together 524288. The first makes the index. Writes: not in a pure node.
   */
  index(input: {
    /** At most 128 characters. */
    index: string;
    /** At most 1,000 of them. */
    docs: readonly {
      /** At most 128 characters. */
      id: string;
      fields: Fields;
    }[];
  }): Promise<{ indexed: number }>;
  /**
   * The `k` (10, up to 100) best documents, equal ones by their ids. A query of more than 100 words, those of
   * phrases counted, finds documents that hold it as it stands. What takes longer than 10 s is ended. Reads.
   */
  query(input: {
    /** At most 128 characters. */
    index: string;
    /** At most 32,768 characters. */
    q: string;
    /** A whole number from 1 up to 100. */
    k?: number;
    filter?: Filter;
  }): Promise<{ hits: { id: string; score: number; fields: Fields }[] }>;
  /** Removes documents by id. Writes: not in a pure node. */
  delete(input: {
    /** At most 128 characters. */
    index: string;
    /** At most 10,000 of them. */
    ids: readonly string[];
  }): Promise<{ deleted: number }>;
}

/**
 * `ctx.queueBus`: Messages by topic, delivered at least once to every consumer group. Each tenant has topics
 * of its own; a topic that nobody has published to is empty.
 *
 * Named `host.queueBus` in peerDependencies.
 * Failures: queue_delivery_token_expired, queue_backend_unavailable.
 */
export interface QueueBus {
  /** Sends a message; with `delaySeconds` it is delivered no sooner. Writes: not in a pure node. */
  publish(input: {
    /** At most 4,096 characters. */
    topic: string;
    payload: Json;
    headers?: { [name: string]: string };
    /** A number from 0 up to 86,400. */
    delaySeconds?: number;
  }): Promise<{ messageId: string }>;
  /**
   * Takes up to `maxMessages` (10, at most 100) that are there, for `visibilityMs` (30000), and no more than
   * 4 MiB; waits for a first one for `waitMs` (0, at most 20000). A new `consumerGroup` starts with the
   * oldest message kept. Writes: not in a pure node.
   */
  consume(input: {
    /** At most 4,096 characters. */
    topic: string;
    /** At most 4,096 characters. */
    consumerGroup?: string;
    /** A whole number from 1. */
    maxMessages?: number;
    /** A whole number from 1 up to 900,000. */
    visibilityMs?: number;
    /** A whole number from 0. */
    waitMs?: number;
  }): Promise<{
    messages: {
      messageId: string;
      payload: Json;
      headers?: { [name: string]: string };
      deliveryToken: string;
      deliveryCount: number;
    }[];
  }>;
  /** Says that a message is done with: its group does not get it again. Writes: not in a pure node. */
  ack(input: {
    /** At most 2,048 characters. */
    deliveryToken: string;
  }): Promise<{ ok: true }>;
  /**
   * Gives a message back for another delivery, or with `requeue: false`, or once too often, to the dead
   * letters. Writes: not in a pure node.
   */
  nack(input: {
    /** At most 2,048 characters. */
    deliveryToken: string;
    requeue?: boolean;
  }): Promise<{ ok: true; requeued: boolean }>;
  /**
   * Puts a message into `<topic>.dlq`, as `original` beside `deadLetterReason`. Writes: not in a pure node.
   * Needs `deadLetter`.
   */
  deadLetter(input: {
    /** At most 2,048 characters. */
    deliveryToken: string;
    /** At most 1,024 characters. */
    reason: string;
  }): Promise<{ ok: true; deadLetterTopic: string }>;
  /**
   * Messages as they come, first those that are kept with `fromBeginning`; nobody else gets fewer for it.
   * With `follow: false` it ends with what is there. Reads. Needs `stream`.
   */
  streamSubscribe(input: {
    /** At most 4,096 characters. */
    topic: string;
    fromBeginning?: boolean;
    follow?: boolean;
  }): AsyncIterable<{ messageId: string; payload: Json; headers?: { [name: string]: string } }>;
}

/**
 * `ctx.storage.blob`: Binary objects in named buckets, and links to them that expire. Each tenant sees its
 * own objects only. Without `bucket`, the first that is advertised is meant. Bytes are a `Uint8Array`.
 *
 * Named `host.blobStorage` in peerDependencies.
 * Limits: maxObjectBytes 33,554,432.
 * Failures: blob_bucket_not_found, blob_object_not_found, blob_object_too_large, blob_presign_expired,
 * blob_quota_exhausted.
 */
export interface BlobStorage {
  /**
   * Keeps an object, in place of the one with the same key. `url` says where it is; it takes a link to get
   * there. Writes: not in a pure node.
   */
  put(input: {
    /** At most 4,096 characters. */
    bucket?: string;
    /** At most 4,096 characters. */
    key: string;
    bytes: Uint8Array;
    contentType?: string;
  }): Promise<{ url: string; sizeBytes: number }>;
  /**
   * The object; a missing one is `blob_object_not_found`. Without `bucket` it is `find`: the object in the
   * first bucket, and for a missing one `{ found: false }`. Reads.
   */
  get(input: {
    /** At most 4,096 characters. */
    bucket?: string;
    /** At most 4,096 characters. */
    key: string;
  }): Promise<{ bytes: Uint8Array; contentType?: string }>;
  /** The object, or that there is none. Reads. */
  find(input: {
    /** At most 4,096 characters. */
    bucket?: string;
    /** At most 4,096 characters. */
    key: string;
  }): Promise<{ found: boolean; bytes?: Uint8Array; contentType?: string }>;
  /** Removes an object. Writes: not in a pure node. */
  delete(input: {
    /** At most 4,096 characters. */
    bucket?: string;
    /** At most 4,096 characters. */
    key: string;
  }): Promise<{ deleted: boolean }>;
  /**
   * Keys in byte order, page by page. A page has 100 entries, or as many as `limit` says; above 1,000 it is
   * taken for that. Reads.
   */
  list(input: {
    /** At most 4,096 characters. */
    bucket?: string;
    /** At most 1,024 characters. */
    prefix?: string;
    /** At most 4,096 characters. */
    cursor?: string;
    /** A whole number from 1. */
    limit?: number;
  }): Promise<{ entries: { key: string; sizeBytes: number }[]; nextCursor?: string }>;
  /**
   * A link that gets the object, or puts it, without a key, until it expires. A week is the longest. A node
   * that is declared pure gets no link that puts. Reads. Needs `presign`.
   */
  presign(input: {
    /** At most 4,096 characters. */
    bucket?: string;
    /** At most 4,096 characters. */
    key: string;
    /** A whole number from 1 up to 604,800. */
    expiresInSeconds: number;
    method: 'GET' | 'PUT';
  }): Promise<{
    url: string;
    /** ISO 8601. */
    expiresAt: string;
  }>;
}

/**
 * `ctx.fs`: Files in a folder of the workspace. Paths are relative to it, or begin with `sandboxRoot`; no
 * path and no link leads out of it. Bytes are a `Uint8Array`.
 *
 * Named `host.fs` in peerDependencies.
 * Limits: maxFileSizeBytes 33,554,432.
 * Failures: path_outside_sandbox, file_too_large, fs_permission_denied, file_not_found, fs_quota_exhausted.
 */
export interface Fs {
  /** The content of a file. Reads. */
  read(input: {
    /** At most 4,096 characters. */
    path: string;
  }): Promise<{ bytes: Uint8Array; contentType?: string }>;
  /**
   * Writes a file as a whole and makes the folders on the way. `mode` is `overwrite` unless it is
   * `create-only`, which refuses to replace, or `append`. Writes: not in a pure node.
   */
  write(input: {
    /** At most 4,096 characters. */
    path: string;
    bytes: Uint8Array;
    contentType?: string;
    mode?: 'overwrite' | 'create-only' | 'append';
  }): Promise<{ path: string; sizeBytes: number }>;
  /** Deletes a file, and the folders that it leaves empty. Writes: not in a pure node. */
  delete(input: {
    /** At most 4,096 characters. */
    path: string;
  }): Promise<{ deleted: boolean }>;
  /** Size and time of a file. Reads. */
  stat(input: {
    /** At most 4,096 characters. */
    path: string;
  }): Promise<{
    sizeBytes: number;
    /** ISO 8601. */
    modifiedAt: string;
    contentType?: string;
    isDirectory: boolean;
  }>;
  /**
   * Files in the byte order of their paths, page by page: all whose path begins with `prefix`. Without
   * `recursive` (true), what lies directly behind the prefix, with folders; without `includeHidden` (true),
   * no names that begin with a dot. A page has 100 entries, or as many as `limit` says; above 1,000 it is
   * taken for that. Reads.
   */
  list(input: {
    /** At most 1,024 characters. */
    prefix?: string;
    /** At most 4,096 characters. */
    cursor?: string;
    /** A whole number from 1. */
    limit?: number;
    recursive?: boolean;
    includeHidden?: boolean;
  }): Promise<{
    entries: { path: string; sizeBytes: number; isDirectory?: boolean }[];
    nextCursor?: string;
  }>;
  readonly image: {
    /**
     * Changes the size. One side follows the other; with both, `fit` says how (`inside`). Reads. Needs
     * `image`.
     */
    resize(input: {
      bytes: Uint8Array;
      /** A whole number from 1 up to 8,192. */
      width?: number;
      /** A whole number from 1 up to 8,192. */
      height?: number;
      fit?: 'contain' | 'cover' | 'fill' | 'inside' | 'outside';
    }): Promise<{ bytes: Uint8Array; contentType: string; width: number; height: number }>;
    /** Cuts a rectangle out. Reads. Needs `image`. */
    crop(input: {
      bytes: Uint8Array;
      /** A whole number from 0 up to 100,000. */
      x: number;
      /** A whole number from 0 up to 100,000. */
      y: number;
      /** A whole number from 1 up to 8,192. */
      width: number;
      /** A whole number from 1 up to 8,192. */
      height: number;
    }): Promise<{ bytes: Uint8Array; contentType: string; width: number; height: number }>;
    /**
     * Writes the image in another format, with `quality` from 1 to 100 where the format has that. Reads.
     * Needs `image`.
     */
    formatConvert(input: {
      bytes: Uint8Array;
      to: 'jpeg' | 'png' | 'webp' | 'avif';
      /** A whole number from 1 up to 100. */
      quality?: number;
    }): Promise<{ bytes: Uint8Array; contentType: string; width: number; height: number }>;
  };
  readonly pdf: {
    /** The text, page by page. Reads. Needs `pdf`. */
    extractText(input: { bytes: Uint8Array }): Promise<{ text: string; pages: number }>;
    /** One file for each of `ranges`, which are written `3`, `2-5`, `7-` or `-2`. Reads. Needs `pdf`. */
    split(input: {
      bytes: Uint8Array;
      /** At most 100 of them. */
      ranges: readonly string[];
    }): Promise<{
      parts: { bytes: Uint8Array; contentType: string; range: string; pages: number }[];
    }>;
    /** One file with the pages of all parts, in their order. Reads. Needs `pdf`. */
    merge(input: {
      /** At most 100 of them. */
      parts: readonly Uint8Array[];
    }): Promise<{ bytes: Uint8Array; contentType: string; pages: number }>;
  };
  readonly archive: {
    /**
     * An archive of the entries, in their order. It is an answer and no file. The same entries give the same
     * bytes. Reads. Needs `archive`.
     */
    create(input: {
      format: 'zip' | 'tar' | 'tar-gz';
      /** At most 2,000 of them. */
      entries: readonly {
        /** At most 4,096 characters. */
        path: string;
        bytes: Uint8Array;
      }[];
    }): Promise<{ bytes: Uint8Array; contentType: string }>;
    /**
     * The files in an archive: all of them, or a refusal that names the entry. Nothing is written. Paths can
     * be used for `write` as they are; links, special files and a path that comes twice are refused, and so
     * is an archive with more than 2000 entries, or with more in it than `maxFileSizeBytes` or 200 times its
     * size. Reads. Needs `archive`.
     */
    extract(input: {
      format: 'zip' | 'tar' | 'tar-gz';
      bytes: Uint8Array;
    }): Promise<{ entries: { path: string; bytes: Uint8Array }[] }>;
  };
}

export interface Ctx<Inputs = JsonObject, Config = JsonObject> extends NodeCtx<Inputs, Config> {
  readonly storage: {
    readonly kv: KvStorage;
    readonly cache: Cache;
    readonly table: TableStorage;
    readonly blob: BlobStorage;
  };
  readonly db: {
    readonly nosql: Nosql;
    readonly sql: Sql;
    readonly vector: VectorStore;
    readonly search: SearchIndex;
  };
  readonly queueBus: QueueBus;
  readonly fs: Fs;
}
