-- What has expired makes room for its tenant; it is found without reading what has not.
create index kv_of_tenant_by_expiry on kv (tenant, expires_at, bytes) where expires_at is not null;
create index cache_of_tenant_by_expiry on cache (tenant, expires_at);
create index queue_messages_of_tenant_by_expiry on queue_messages (tenant, expires_at);

-- An entry counts with its namespace, and 256 bytes for what is kept beside it. Triggers carry this on to `usage`.
update kv set bytes = 256 + octet_length(namespace) + octet_length(key) + octet_length(value);
update cache set bytes = 256 + octet_length(namespace) + octet_length(key) + octet_length(value);
