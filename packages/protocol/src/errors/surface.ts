import { refused, retriable } from './entry.ts';

/** Errors of host capabilities for pack code. These only occur in nodes. */
export const SURFACE_ERRORS = {
  ...refused(0, {
    host_capability_missing: [
      'The pack called a capability that this host does not offer.',
      'See `details.capability`; use a host that advertises it, or another node.',
    ],
    secret_in_arguments: [
      'The arguments of the call contain a secret of this tenant.',
      'Send it only with ctx.http, or pass the reference of the credential instead of its value.',
    ],
    ssrf_blocked: [
      'The request is not a plain HTTP request to a public address, and was not sent.',
      'See `details.reason`; use https, a host whose addresses are all public, and plain HTTP requests.',
    ],
    kv_key_too_large: [
      'The key is too long.',
      'Shorten the key to `details.maxKeyBytes`, for instance by hashing it.',
    ],
    kv_value_too_large: [
      'The value is too large.',
      'Keep it under `details.maxValueBytes`, or put it into blob storage.',
    ],
    kv_ttl_exceeds_max: [
      'The time to live of the key is too long.',
      'Use at most `details.maxTtlSeconds`, or omit it to keep the key.',
    ],
    kv_quota_exhausted: [
      'The key-value storage of this tenant is full.',
      'Delete keys or let them expire, or ask the operator for a larger quota (GANTRY_QUOTAS).',
    ],
    cache_value_too_large: [
      'The value is too large for the cache.',
      'Keep it under `details.maxValueBytes`, or put it into blob storage.',
    ],
    cache_ttl_exceeds_max: [
      'The time to live of the value is too long.',
      'Use at most `details.maxTtlSeconds`.',
    ],
    table_schema_violation: [
      'The row does not match the columns of its table.',
      'See `details.column`; send values of the type of that column.',
    ],
    table_row_limit_reached: [
      'The table, or the space of this tenant for tables, is full.',
      'Delete rows first, or use another table.',
    ],
    table_not_found: ['There is no such table.', 'Create the table, or insert its first row.'],
    nosql_filter_rejected: [
      'The filter contains something that is not supported.',
      'The message names it; `docs/capabilities.md` lists the operators.',
    ],
    queue_topic_not_found: [
      'The topic does not exist: it has no message, and nothing was published to it within the retention time.',
      'Check its name, or publish to it first; with `waitMs` a consumer waits for a first message.',
    ],
    queue_delivery_token_expired: [
      'The delivery token is not valid: it has expired or was already used.',
      'Consume again; an unsettled message comes with a new token.',
    ],
    sql_non_parametric: [
      'The SQL contains a literal value, or more than one statement.',
      'Write ? for each value and pass the values in `params`; send one statement.',
    ],
    sql_syntax_error: [
      'The database does not understand the SQL statement.',
      'Correct the statement; the message has what the database said.',
    ],
    sql_transaction_aborted: [
      'The database rolled back the transaction.',
      'See `details.reason`: correct the values, or ask for less.',
    ],
    datasource_not_found: [
      'There is no data source with this id.',
      'Use the id of a configured data source, or leave it out for the primary one.',
    ],
    datasource_access_denied: [
      'This tenant has no access to this data source, or to this operation on it.',
      'Use a data source of this tenant, or ask the operator for access.',
    ],
    path_outside_sandbox: [
      'The path does not name a file inside the folder of this workspace.',
      'Use a relative path of plain names, without links, such as `reports/july.csv`.',
    ],
    file_not_found: ['There is no file with this path.', 'Check the path, or list the folder.'],
    file_too_large: [
      'The file is too large.',
      'Keep it under the limit in `details`, or put it into blob storage.',
    ],
    fs_permission_denied: [
      'This operation is not allowed on this path.',
      'See the message; use another path.',
    ],
    fs_quota_exhausted: [
      'The file storage of this tenant is full.',
      'Delete files, or ask the operator for a larger quota (GANTRY_QUOTAS).',
    ],
    vector_collection_not_found: [
      'There is no vector collection with this name.',
      'Check the name, or upsert vectors into it first.',
    ],
    vector_dimension_mismatch: [
      'The vector does not have the dimensions of the collection.',
      'Use the embedding model that the collection was filled with; see `details.expected`.',
    ],
    search_index_not_found: [
      'There is no search index with this name.',
      'Check the name, or index documents into it first.',
    ],
    search_query_syntax_error: [
      'The search query is not valid.',
      'Write words, "phrases", -excluded words or a prefix followed by *.',
    ],
  }),
  ...refused(0, {
    connector_not_found: [
      'There is no connector with this id.',
      'Add it with `gantry connectors add`, or name one that `gantry connectors` lists.',
    ],
    channel_unsupported: [
      'The connector does not serve this channel.',
      'Use a channel of `details.channels`, or another connector.',
    ],
  }),
  ...retriable(0, {
    fetch_failed: [
      'The request received no answer, or one that cannot be read.',
      'See `details.reason`; check the address and the server, then try again.',
    ],
    connector_disconnected: [
      'The receiver of the connector rejected its credential.',
      'See `gantry connectors check`; correct the credential, then run `gantry connectors reconnect`.',
    ],
    queue_backend_unavailable: [
      'The queue backend is not available.',
      'Try again later; the operator should check the backend.',
    ],
  }),
  ...refused(403, {
    blob_presign_expired: ['This link has expired.', 'Ask for a new link.'],
  }),
  ...refused(404, {
    blob_bucket_not_found: [
      'There is no bucket with this name.',
      'Use a bucket that the host advertises under `blobStorage.buckets`.',
    ],
    blob_object_not_found: ['The bucket has no object with this key.', 'Check the key, or list the bucket.'],
  }),
  ...refused(413, {
    blob_object_too_large: [
      'The object is too large.',
      'Keep it under `details.maxObjectBytes`, or split it.',
    ],
  }),
  ...refused(507, {
    blob_quota_exhausted: [
      'The blob storage of this tenant is full.',
      'Delete objects, or ask the operator for a larger quota (GANTRY_QUOTAS).',
    ],
  }),
};
