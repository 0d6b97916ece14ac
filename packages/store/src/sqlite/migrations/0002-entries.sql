-- bodies may be long: with a rowid they stay out of the index that lists and counts read
create table entries (
  kind text not null,
  tenant text not null,
  id text not null,
  ref text,
  version integer not null,
  due_at integer,
  expires_at integer,
  created_at integer not null,
  body text not null,
  primary key (kind, tenant, id)
) strict;

create index entries_by_ref on entries (kind, tenant, ref, id) where ref is not null;
create index entries_by_due_at on entries (kind, due_at, id, tenant) where due_at is not null;
create index entries_by_expires_at on entries (expires_at) where expires_at is not null;
