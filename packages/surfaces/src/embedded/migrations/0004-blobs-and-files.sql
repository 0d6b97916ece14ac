-- Objects. Their content is in files whose names are used once: `file` says which.
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
  insert into usage values ('blobs', new.tenant, new.bytes)
    on conflict do update set bytes = bytes + excluded.bytes;
end;
create trigger blob_updated after update of bytes on blobs begin
  update usage set bytes = bytes + new.bytes - old.bytes where area = 'blobs' and tenant = new.tenant;
end;
create trigger blob_deleted after delete on blobs begin
  update usage set bytes = bytes - old.bytes where area = 'blobs' and tenant = old.tenant;
end;

-- Content that no object has any more; a reader may still be about to open it.
create table blob_garbage (
  file text primary key,
  since integer not null
) strict, without rowid;
create index blob_garbage_by_time on blob_garbage (since);

-- What is known of files beside what the file system says.
create table files (
  tenant text not null,
  workspace text not null,
  path text not null,
  bytes integer not null,
  content_type text,
  primary key (tenant, workspace, path)
) strict, without rowid;

create trigger file_inserted after insert on files begin
  insert into usage values ('files', new.tenant, new.bytes)
    on conflict do update set bytes = bytes + excluded.bytes;
end;
create trigger file_updated after update of bytes on files begin
  update usage set bytes = bytes + new.bytes - old.bytes where area = 'files' and tenant = new.tenant;
end;
create trigger file_deleted after delete on files begin
  update usage set bytes = bytes - old.bytes where area = 'files' and tenant = old.tenant;
end;

-- A change of a file that was decided and may or may not have happened. `staged` tells: it names the new content
-- before a write, and the old content after a deletion.
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
