-- What has expired makes room for its tenant; it is found without reading what has not.
create index kv_of_tenant_by_expiry on kv (tenant, expires_at) include (bytes) where expires_at is not null;
create index cache_of_tenant_by_expiry on cache (tenant, expires_at);
create index queue_messages_of_tenant_by_expiry on queue_messages (tenant, expires_at);

-- An entry counts with its namespace, and 256 bytes for what is kept beside it.
drop trigger kv_usage on kv;
drop trigger cache_usage on cache;
update kv set bytes = 256 + octet_length(namespace) + octet_length(key) + octet_length(value);
update cache set bytes = 256 + octet_length(namespace) + octet_length(key) + octet_length(value);

delete from usage where area in ('kv', 'cache');
insert into usage select 'kv', tenant, hashtext(key) & 15, sum(bytes) from kv group by 2, 3;
insert into usage select 'cache', tenant, hashtext(key) & 15, sum(bytes) from cache group by 2, 3;
create trigger kv_usage after insert or delete or update of bytes on kv
  for each row execute function count_usage();
create trigger cache_usage after insert or delete or update of bytes on cache
  for each row execute function count_usage();
