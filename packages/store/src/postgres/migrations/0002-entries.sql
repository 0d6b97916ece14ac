create table entries (
  kind text collate "C" not null,
  tenant text collate "C" not null,
  id text collate "C" not null,
  ref text collate "C",
  version bigint not null,
  due_at bigint,
  expires_at bigint,
  created_at bigint not null,
  body text not null,
  primary key (kind, tenant, id)
);

create index entries_by_ref on entries (kind, tenant, ref, id) where ref is not null;
create index entries_by_due_at on entries (kind, due_at, id, tenant) where due_at is not null;
create index entries_by_expires_at on entries (expires_at) where expires_at is not null;
