-- Ids are never reused: they are part of sequences. `codes_changed`: codes that changed since the chunks of
-- the collection were counted. `recoded_to`: the last sequence whose code was rewritten; null while no rewrite
-- is in progress.
create table vector_collections (
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

-- A sequence is the id of its collection times 2^32 plus a number, so the rows of a collection are adjacent
-- and form one range. Codes of vectors with the cosine metric are in vector_codes_<dimensions>, created on
-- first use.
create table vectors (
  seq integer primary key,
  collection integer not null,
  id text not null,
  embedding blob not null,
  norm real not null,
  doc blob,
  bytes integer not null,
  unique (collection, id)
) strict;

create trigger vectors_inserted after insert on vectors begin
  update vector_collections set vectors = vectors + 1 where id = new.collection;
  insert into usage select 'vectors', tenant, new.bytes from vector_collections where id = new.collection
    on conflict do update set bytes = bytes + excluded.bytes;
end;
create trigger vectors_updated after update of bytes on vectors begin
  update usage set bytes = bytes + new.bytes - old.bytes
    where area = 'vectors' and tenant = (select tenant from vector_collections where id = new.collection);
end;
create trigger vectors_deleted after delete on vectors begin
  update vector_collections set vectors = vectors - 1 where id = old.collection;
  update usage set bytes = bytes - old.bytes
    where area = 'vectors' and tenant = (select tenant from vector_collections where id = old.collection);
end;
