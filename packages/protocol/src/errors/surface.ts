import { refused, retriable } from './entry.ts';

/** What host capabilities answer to pack code. Only nodes carry these. */
export const SURFACE_ERRORS = {
  ...refused(0, {
    host_capability_missing: [
      'The pack called a capability that this host does not offer.',
      'See `details.capability`; use a host that advertises it, or another node.',
    ],
    secret_in_arguments: [
      'The arguments of the call contain a secret that is open in this tenant.',
      'Send it only with ctx.http, or name the credential instead of its value: nothing else may keep it or pass it on.',
    ],
    ssrf_blocked: [
      'The request would leave the public network, or HTTP itself, and was not sent.',
      'See `details.reason`; use https, a host whose addresses are all public, and plain HTTP requests.',
    ],
    kv_key_too_large: [
      'The key is longer than a key may be.',
      'Shorten the key to `details.maxKeyBytes`, for instance by hashing it.',
    ],
    kv_value_too_large: [
      'The value is larger than a value may be.',
      'Keep it under `details.maxValueBytes`, or put it into blob storage.',
    ],
    kv_ttl_exceeds_max: [
      'The key would live longer than a key may.',
      'Ask for at most `details.maxTtlSeconds`, or leave the time out to keep the key.',
    ],
    kv_quota_exhausted: [
      'The key-value storage of this tenant is full.',
      'Delete keys or let them expire, or ask the operator for a larger quota (GANTRY_QUOTAS).',
    ],
    cache_value_too_large: [
      'The value is larger than the cache takes.',
      'Keep it under `details.maxValueBytes`, or put it into blob storage.',
    ],
    cache_ttl_exceeds_max: [
      'The value would stay in the cache longer than a value may.',
      'Ask for at most `details.maxTtlSeconds`.',
    ],
    table_schema_violation: [
      'The row does not fit the columns of its table.',
      'See `details.column`; send values of the type that the table has there.',
    ],
    table_row_limit_reached: [
      'The table, or the space of this tenant for tables, is full.',
      'Delete rows first, or use another table.',
    ],
    table_not_found: ['There is no such table.', 'Create the table, or insert its first row.'],
    nosql_filter_rejected: [
      'The filter holds something that no filter may hold.',
      'The message names it; `docs/capabilities.md` lists the operators.',
    ],
    queue_topic_not_found: [
      'The topic holds no message, and nobody published to it in the time that messages are kept.',
      'Check its name, or publish to it first; with `waitMs` a consumer waits for a first message.',
    ],
    queue_delivery_token_expired: [
      'The delivery token is not, or no longer, good: its time is over or it was used.',
      'Consume again; the message comes with a new token unless it is done with.',
    ],
    sql_non_parametric: [
      'The SQL statement holds a value, or more than one statement.',
      'Write ? for each value and pass the values in `params`; send one statement.',
    ],
    sql_syntax_error: [
      'The database does not understand the SQL statement.',
      'Correct the statement; the message has what the database said.',
    ],
    sql_transaction_aborted: [
      'The database gave up the transaction; nothing of it was kept.',
      'See `details.reason`: correct the values, or ask for less.',
    ],
    datasource_not_found: [
      'There is no data source with this id.',
      'Use the id of a configured data source, or leave it out for the primary one.',
    ],
    datasource_access_denied: [
      'This data source, or what was asked of it, is not for this tenant.',
      'Use a data source of this tenant, or ask the operator for access.',
    ],
    path_outside_sandbox: [
      'The path does not name a file inside the folder of this workspace.',
      'Use a relative path of plain names, without links, such as `reports/july.csv`.',
    ],
    file_not_found: ['There is no file with this path.', 'Check the path, or list the folder.'],
    file_too_large: [
      'The file is larger than a file may be.',
      'Keep it under the limit in `details`, or put it into blob storage.',
    ],
    fs_permission_denied: ['This may not be done with this path.', 'See the message; use another path.'],
    fs_quota_exhausted: [
      'The files of this tenant take all the room that they may.',
      'Delete files, or ask the operator for a larger quota (GANTRY_QUOTAS).',
    ],
    vector_collection_not_found: [
      'There is no vector collection with this name.',
      'Check the name, or upsert vectors into it first.',
    ],
    vector_dimension_mismatch: [
      'The vector has another number of dimensions than those of the collection.',
      'Use the embedding model that the collection was filled with; see `details.expected`.',
    ],
    search_index_not_found: [
      'There is no search index with this name.',
      'Check the name, or index documents into it first.',
    ],
    search_query_syntax_error: [
      'The search query cannot be searched for.',
      'Write words, "phrases", -excluded words or the beginning of a word with * behind it.',
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
      'The request got no answer, or one that cannot be read.',
      'See `details.reason`; check the address and the server, then try again.',
    ],
    connector_disconnected: [
      'The receiver of the connector does not accept its credential.',
      'See `gantry connectors check`; put the credential right, then `gantry connectors reconnect`.',
    ],
    queue_backend_unavailable: [
      'The queue backend cannot be used for now.',
      'Try again later; the operator should look at the backend.',
    ],
  }),
  ...refused(403, {
    blob_presign_expired: ['The time of this link is over.', 'Ask for a new link.'],
  }),
  ...refused(404, {
    blob_bucket_not_found: [
      'There is no bucket with this name.',
      'Use a bucket that the host advertises under `blobStorage.buckets`.',
    ],
    blob_object_not_found: [
      'The bucket holds no object with this key.',
      'Check the key, or list the bucket.',
    ],
  }),
  ...refused(413, {
    blob_object_too_large: [
      'The object is larger than an object may be.',
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
