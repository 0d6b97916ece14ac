-- What writes were answered with, so that a node that runs again gets the same answers.
create table invocations (
  tenant text not null,
  id text not null,
  method text not null,
  fingerprint text not null,
  answer text not null,
  recorded_at integer not null,
  primary key (tenant, id)
) strict, without rowid;
create index invocations_by_time on invocations (recorded_at);

-- Bytes that a tenant has in an area; kept by triggers, so that no write can forget it.
create table usage (
  area text not null,
  tenant text not null,
  bytes integer not null,
  primary key (area, tenant)
) strict, without rowid;

create table kv (
  id integer primary key,
  tenant text not null,
  namespace text not null,
  key text not null,
  value text not null,
  bytes integer not null,
  expires_at integer,
  unique (tenant, namespace, key)
) strict;
create index kv_by_expiry on kv (expires_at) where expires_at is not null;

create trigger kv_inserted after insert on kv begin
  insert into usage values ('kv', new.tenant, new.bytes)
    on conflict do update set bytes = bytes + excluded.bytes;
end;
create trigger kv_updated after update of bytes on kv begin
  update usage set bytes = bytes + new.bytes - old.bytes where area = 'kv' and tenant = new.tenant;
end;
create trigger kv_deleted after delete on kv begin
  update usage set bytes = bytes - old.bytes where area = 'kv' and tenant = old.tenant;
end;

create table cache (
  id integer primary key,
  tenant text not null,
  namespace text not null,
  key text not null,
  value text not null,
  bytes integer not null,
  stored_at integer not null,
  used_at integer not null,
  expires_at integer not null,
  unique (tenant, namespace, key)
) strict;
create index cache_by_use on cache (tenant, used_at);
create index cache_by_expiry on cache (expires_at);

create trigger cache_inserted after insert on cache begin
  insert into usage values ('cache', new.tenant, new.bytes)
    on conflict do update set bytes = bytes + excluded.bytes;
end;
create trigger cache_updated after update of bytes on cache begin
  update usage set bytes = bytes + new.bytes - old.bytes where area = 'cache' and tenant = new.tenant;
end;
create trigger cache_deleted after delete on cache begin
  update usage set bytes = bytes - old.bytes where area = 'cache' and tenant = old.tenant;
end;
