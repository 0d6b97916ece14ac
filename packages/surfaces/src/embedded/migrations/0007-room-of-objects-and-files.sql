-- What is empty takes room too: 1,024 bytes for an object, and for each name in the path of a file, since folders
-- may be there for it alone. Else a tenant could have any number of them.
drop trigger blob_inserted;
drop trigger blob_deleted;
create trigger blob_inserted after insert on blobs begin
  insert into usage values ('blobs', new.tenant, new.bytes + 1024)
    on conflict do update set bytes = bytes + excluded.bytes;
end;
create trigger blob_deleted after delete on blobs begin
  update usage set bytes = bytes - old.bytes - 1024 where area = 'blobs' and tenant = old.tenant;
end;
update usage set bytes = bytes + 1024 * (select count(*) from blobs where blobs.tenant = usage.tenant)
  where area = 'blobs';

-- How many files a tenant has.
create table file_counts (
  tenant text primary key,
  files integer not null
) strict, without rowid;
insert into file_counts select tenant, count(*) from files group by tenant;

drop trigger file_inserted;
drop trigger file_deleted;
create trigger file_inserted after insert on files begin
  insert into usage values (
    'files', new.tenant, new.bytes + 1024 * (1 + length(new.path) - length(replace(new.path, '/', '')))
  ) on conflict do update set bytes = bytes + excluded.bytes;
  insert into file_counts values (new.tenant, 1) on conflict do update set files = files + 1;
end;
create trigger file_deleted after delete on files begin
  update usage set bytes = bytes - old.bytes - 1024 * (1 + length(old.path) - length(replace(old.path, '/', '')))
    where area = 'files' and tenant = old.tenant;
  update file_counts set files = files - 1 where tenant = old.tenant;
end;
update usage
  set bytes = bytes + (
    select coalesce(sum(1024 * (1 + length(path) - length(replace(path, '/', '')))), 0)
    from files where files.tenant = usage.tenant
  )
  where area = 'files';
