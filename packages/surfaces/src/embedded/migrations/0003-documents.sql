-- A collection of JSON documents. `columns` is what its documents must look like, null where they are free.
-- `indexes` lists fields whose values are kept in `cells`.
create table collections (
  id integer primary key,
  tenant text not null,
  space text not null,
  name text not null,
  columns text,
  indexes text not null default '[]',
  documents integer not null default 0,
  unique (tenant, space, name)
) strict;

-- A sequence is never used again, so cursors stay good when documents go.
create table documents (
  seq integer primary key autoincrement,
  collection integer not null,
  id text not null,
  doc blob not null,
  bytes integer not null,
  unique (collection, id)
) strict;
create index documents_in_order on documents (collection, seq);

-- The beginning of the JSON of an indexed field: enough to find documents, which are then checked.
create table cells (
  collection integer not null,
  field text not null,
  value text not null,
  seq integer not null,
  primary key (collection, field, value, seq)
) strict, without rowid;

create view cells_of_documents as
  select documents.collection, field.value as field, documents.seq,
    substr(coalesce(documents.doc -> ('$."' || field.value || '"'), 'null'), 1, 64) as value
  from documents join collections on collections.id = documents.collection,
    json_each(collections.indexes) as field;

create trigger documents_inserted after insert on documents begin
  update collections set documents = documents + 1 where id = new.collection;
  insert into usage select 'documents', tenant, new.bytes from collections where id = new.collection
    on conflict do update set bytes = bytes + excluded.bytes;
  insert into cells (collection, field, value, seq)
    select collection, field, value, seq from cells_of_documents where seq = new.seq;
end;

create trigger documents_changing before update of doc on documents begin
  delete from cells where (collection, field, value, seq) in
    (select collection, field, value, seq from cells_of_documents where seq = old.seq);
end;
create trigger documents_changed after update of doc on documents begin
  update usage set bytes = bytes + new.bytes - old.bytes
    where area = 'documents' and tenant = (select tenant from collections where id = new.collection);
  insert into cells (collection, field, value, seq)
    select collection, field, value, seq from cells_of_documents where seq = new.seq;
end;

create trigger documents_deleting before delete on documents begin
  delete from cells where (collection, field, value, seq) in
    (select collection, field, value, seq from cells_of_documents where seq = old.seq);
  update collections set documents = documents - 1 where id = old.collection;
  update usage set bytes = bytes - old.bytes
    where area = 'documents' and tenant = (select tenant from collections where id = old.collection);
end;
