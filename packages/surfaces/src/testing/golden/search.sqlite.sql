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
CREATE TABLE search_documents (
  seq integer primary key,
  idx integer not null,
  id text not null,
  doc blob not null,
  folded text not null,
  bytes integer not null,
  unique (idx, id)
) strict;
CREATE TABLE search_indexes (
  id integer primary key autoincrement,
  tenant text not null,
  name text not null,
  documents integer not null default 0,
  next integer not null default 1,
  unique (tenant, name)
) strict;
CREATE TABLE sqlite_sequence(name,seq);
CREATE TABLE usage (
  area text not null,
  tenant text not null,
  bytes integer not null,
  primary key (area, tenant)
) strict, without rowid;
CREATE TRIGGER search_documents_deleted after delete on search_documents begin
  update search_indexes set documents = documents - 1 where id = old.idx;
  update usage set bytes = bytes - old.bytes
    where area = 'search' and tenant = (select tenant from search_indexes where id = old.idx);
end;
CREATE TRIGGER search_documents_inserted after insert on search_documents begin
  update search_indexes set documents = documents + 1 where id = new.idx;
  insert into usage select 'search', tenant, new.bytes from search_indexes where id = new.idx
    on conflict do update set bytes = bytes + excluded.bytes;
end;
CREATE TRIGGER search_documents_updated after update of bytes on search_documents begin
  update usage set bytes = bytes + new.bytes - old.bytes
    where area = 'search' and tenant = (select tenant from search_indexes where id = new.idx);
end;
