-- Schema version 10
CREATE INDEX invocations_by_time on invocations (recorded_at);
CREATE TABLE invocations (
  tenant text not null,
  journal_key text not null,
  method text not null,
  fingerprint text not null,
  answer text not null,
  recorded_at integer not null,
  primary key (tenant, journal_key)
) strict, without rowid;
CREATE TABLE sqlite_sequence(name,seq);
CREATE TABLE usage (
  area text not null,
  tenant text not null,
  bytes integer not null,
  primary key (area, tenant)
) strict, without rowid;
CREATE TABLE vector_collections (
  id integer primary key autoincrement,
  tenant text not null,
  name text not null,
  dimensions integer not null,
  metric text not null,
  vectors integer not null default 0,
  next integer not null default 1,
  codes_changed integer not null default 0,
  recoded_to integer,
  unique (tenant, name)
) strict;
CREATE TABLE vectors (
  seq integer primary key,
  collection integer not null,
  id text not null,
  embedding blob not null,
  norm real not null,
  doc blob,
  bytes integer not null,
  unique (collection, id)
) strict;
CREATE TRIGGER vectors_deleted after delete on vectors begin
  update vector_collections set vectors = vectors - 1 where id = old.collection;
  update usage set bytes = bytes - old.bytes
    where area = 'vectors' and tenant = (select tenant from vector_collections where id = old.collection);
end;
CREATE TRIGGER vectors_inserted after insert on vectors begin
  update vector_collections set vectors = vectors + 1 where id = new.collection;
  insert into usage select 'vectors', tenant, new.bytes from vector_collections where id = new.collection
    on conflict do update set bytes = bytes + excluded.bytes;
end;
CREATE TRIGGER vectors_updated after update of bytes on vectors begin
  update usage set bytes = bytes + new.bytes - old.bytes
    where area = 'vectors' and tenant = (select tenant from vector_collections where id = new.collection);
end;
