-- Ids are never reused: they are part of sequences, and of the names of tables. `codes_changed`: codes that changed
-- since the chunks of the collection were counted. `recoded_to`: up to which sequence its codes were rewritten, null
-- while no rewrite is under way.
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

-- A sequence is its collection times 2^32 and a number, so a collection lies together and is one range. Codes of
-- vectors whose metric is cosine are in vector_codes_<dimensions>, made when first needed.
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
