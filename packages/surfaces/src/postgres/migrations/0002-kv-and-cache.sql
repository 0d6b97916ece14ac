-- Bytes that a tenant has in an area; kept by triggers, so that no write can forget it. Several rows for each
-- tenant, by key, so that writes to different keys seldom wait for each other.
create table usage (
  area text not null,
  tenant text not null,
  stripe integer not null,
  bytes bigint not null,
  primary key (area, tenant, stripe)
);

create function count_usage() returns trigger language plpgsql as $$
declare
  place record := case when tg_op = 'DELETE' then old else new end;
  grown bigint := case tg_op
    when 'INSERT' then new.bytes
    when 'UPDATE' then new.bytes - old.bytes
    else -old.bytes end;
begin
  insert into usage values (tg_table_name, place.tenant, hashtext(place.key) & 15, grown)
    on conflict (area, tenant, stripe) do update set bytes = usage.bytes + excluded.bytes;
  return null;
end;
$$;

-- Keys are sorted by their UTF-8 bytes. Values are JSON as text: jsonb cannot hold every text.
create table kv (
  tenant text not null,
  namespace text not null,
  key text collate "C" not null,
  value text not null,
  bytes bigint not null,
  expires_at bigint,
  primary key (tenant, namespace, key)
);
create index kv_by_expiry on kv (expires_at) where expires_at is not null;
create trigger kv_usage after insert or delete or update of bytes on kv
  for each row execute function count_usage();

create table cache (
  id bigint generated always as identity,
  tenant text not null,
  namespace text not null,
  key text not null,
  value text not null,
  bytes bigint not null,
  stored_at bigint not null,
  used_at bigint not null,
  expires_at bigint not null,
  primary key (tenant, namespace, key)
);
create unique index cache_by_id on cache (id);
create index cache_by_use on cache (tenant, used_at, id);
create index cache_by_expiry on cache (expires_at);
create trigger cache_usage after insert or delete or update of bytes on cache
  for each row execute function count_usage();
