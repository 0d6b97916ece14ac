-- The size of an entry of kv and cache includes its namespace and 256 bytes of overhead.
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
-- Finds expired entries of a tenant without reading the others.
create index kv_of_tenant_by_expiry on kv (tenant, expires_at, bytes) where expires_at is not null;

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
create index cache_of_tenant_by_expiry on cache (tenant, expires_at);

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

-- Messages are kept for their retention time whether they are consumed or not: streams read them from the beginning.
create table queue_messages (
  seq integer primary key autoincrement,
  tenant text not null,
  topic text not null,
  message_id text not null,
  payload text not null,
  headers text not null,
  bytes integer not null,
  available_at integer not null,
  expires_at integer not null
) strict;
create index queue_messages_by_topic on queue_messages (tenant, topic, seq);
create index queue_messages_by_expiry on queue_messages (expires_at);
create index queue_messages_of_tenant_by_expiry on queue_messages (tenant, expires_at);

-- The progress of each group: all messages before next_seq were delivered to it, or wait in queue_deliveries.
create table queue_groups (
  id integer primary key,
  tenant text not null,
  topic text not null,
  name text not null,
  next_seq integer not null,
  unique (tenant, topic, name)
) strict;

-- Messages that were delivered to a group and are not settled. Settling deletes the row.
create table queue_deliveries (
  group_id integer not null,
  seq integer not null,
  count integer not null,
  leased integer not null,
  visible_at integer not null,
  primary key (group_id, seq)
) strict, without rowid;
create index queue_deliveries_by_time on queue_deliveries (group_id, visible_at, seq);
create index queue_deliveries_by_message on queue_deliveries (seq);

create trigger queue_message_inserted after insert on queue_messages begin
  insert into usage values ('queue', new.tenant, new.bytes)
    on conflict do update set bytes = bytes + excluded.bytes;
end;
create trigger queue_message_deleted after delete on queue_messages begin
  update usage set bytes = bytes - old.bytes where area = 'queue' and tenant = old.tenant;
  delete from queue_deliveries where seq = old.seq;
end;

-- A collection of JSON documents. `columns` describes its documents; null if it has no schema. `indexes` lists
-- fields whose values are in `cells`; `filling` lists those whose cells are still being written, up to the
-- document `filled_seq`. Triggers maintain the cells of documents written meanwhile.
create table collections (
  id integer primary key,
  tenant text not null,
  space text not null,
  name text not null,
  columns text,
  indexes text not null default '[]',
  documents integer not null default 0,
  filling text not null default '[]',
  filled_seq integer not null default 0,
  unique (tenant, space, name)
) strict;

-- A sequence is never reused, so cursors stay valid when documents are deleted.
create table documents (
  seq integer primary key autoincrement,
  collection integer not null,
  id text not null,
  doc blob not null,
  bytes integer not null,
  unique (collection, id)
) strict;
create index documents_in_order on documents (collection, seq);

-- The beginning of an indexed field's JSON: enough to find candidate documents, which are then checked.
create table cells (
  collection integer not null,
  field text not null,
  value text not null,
  seq integer not null,
  primary key (collection, field, value, seq)
) strict, without rowid;

-- Cells of documents in large deletions; they are deleted later, in steps. Filters also look up the document,
-- so a cell without one never matches; and no sequence is reused.
create table cells_gone (
  seq integer not null,
  field text not null,
  collection integer not null,
  value text not null,
  primary key (seq, field)
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

-- Writes only the cells that differ.
create trigger documents_changed after update of doc on documents begin
  update usage set bytes = bytes + new.bytes - old.bytes
    where area = 'documents' and tenant = (select tenant from collections where id = new.collection);
  delete from cells where (collection, field, value, seq) in
    (select old.collection, field.value,
        substr(coalesce(old.doc -> ('$."' || field.value || '"'), 'null'), 1, 64) as before, old.seq
      from collections, json_each(collections.indexes) as field
      where collections.id = old.collection
        and before <> substr(coalesce(new.doc -> ('$."' || field.value || '"'), 'null'), 1, 64));
  insert into cells (collection, field, value, seq)
    select new.collection, field.value,
        substr(coalesce(new.doc -> ('$."' || field.value || '"'), 'null'), 1, 64) as after, new.seq
      from collections, json_each(collections.indexes) as field
      where collections.id = new.collection
        and after <> substr(coalesce(old.doc -> ('$."' || field.value || '"'), 'null'), 1, 64);
end;

create trigger documents_deleting before delete on documents begin
  delete from cells where (collection, field, value, seq) in
    (select collection, field, value, seq from cells_of_documents
      where seq = old.seq and not exists (select 1 from cells_gone where cells_gone.seq = old.seq));
  update collections set documents = documents - 1 where id = old.collection;
  update usage set bytes = bytes - old.bytes
    where area = 'documents' and tenant = (select tenant from collections where id = old.collection);
end;

-- Objects. Their content is in files, named by `file`; a file name is used once. The size of an object
-- includes 1,024 bytes of overhead, so that empty ones count too.
create table blobs (
  id integer primary key,
  tenant text not null,
  bucket text not null,
  key text not null,
  file text not null,
  bytes integer not null,
  content_type text,
  unique (tenant, bucket, key)
) strict;
create index blobs_by_file on blobs (file);

create trigger blob_inserted after insert on blobs begin
  insert into usage values ('blobs', new.tenant, new.bytes + 1024)
    on conflict do update set bytes = bytes + excluded.bytes;
end;
create trigger blob_updated after update of bytes on blobs begin
  update usage set bytes = bytes + new.bytes - old.bytes where area = 'blobs' and tenant = new.tenant;
end;
create trigger blob_deleted after delete on blobs begin
  update usage set bytes = bytes - old.bytes - 1024 where area = 'blobs' and tenant = old.tenant;
end;

-- Files that no object refers to any more; a reader may still be about to open one.
create table blob_garbage (
  file text primary key,
  since integer not null
) strict, without rowid;
create index blob_garbage_by_time on blob_garbage (since);

-- Metadata of files that is not in the file system. Each name in a path counts 1,024 bytes of overhead, since
-- folders may exist for one file alone.
create table files (
  tenant text not null,
  workspace text not null,
  path text not null,
  bytes integer not null,
  content_type text,
  primary key (tenant, workspace, path)
) strict, without rowid;

create table file_counts (
  tenant text primary key,
  files integer not null
) strict, without rowid;

create trigger file_inserted after insert on files begin
  insert into usage values (
    'files', new.tenant, new.bytes + 1024 * (1 + length(new.path) - length(replace(new.path, '/', '')))
  ) on conflict do update set bytes = bytes + excluded.bytes;
  insert into file_counts values (new.tenant, 1) on conflict do update set files = files + 1;
end;
create trigger file_updated after update of bytes on files begin
  update usage set bytes = bytes + new.bytes - old.bytes where area = 'files' and tenant = new.tenant;
end;
create trigger file_deleted after delete on files begin
  update usage set bytes = bytes - old.bytes - 1024 * (1 + length(old.path) - length(replace(old.path, '/', '')))
    where area = 'files' and tenant = old.tenant;
  update file_counts set files = files - 1 where tenant = old.tenant;
end;

-- A change of a file that was decided and may or may not have happened. `staged` shows which: it names the new
-- content before a write, and the old content after a deletion.
create table file_changes (
  tenant text not null,
  invocation text not null,
  method text not null,
  fingerprint text not null,
  workspace text not null,
  path text not null,
  kind text not null,
  staged text not null,
  bytes integer not null,
  content_type text,
  primary key (tenant, invocation)
) strict, without rowid;
