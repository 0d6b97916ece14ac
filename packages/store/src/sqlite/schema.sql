-- A change here is also a statement in `additions` of create-schema.ts, for older data. New columns come last.
create table runs (
  run_id text not null primary key,
  tenant text not null,
  workspace text,
  principal text,
  workflow_id text not null,
  workflow_hash text not null,
  scope_id text,
  created_at integer not null,
  request text not null,
  status text not null,
  owner integer,
  wake_at integer,
  ended_at integer,
  next_seq integer not null
) strict, without rowid;

create index runs_by_wake_at on runs (wake_at) where owner is null and wake_at is not null;
create index runs_open on runs (tenant, run_id) where ended_at is null;
create index runs_by_ended_at on runs (ended_at) where ended_at is not null;
create index runs_active_by_scope on runs (tenant, scope_id, run_id) where scope_id is not null and ended_at is null;
-- without a status, the run list merges the ranges of all statuses: each run is in as few indexes as possible
create index runs_by_status on runs (tenant, status, run_id);
create index runs_by_workflow_and_status on runs (tenant, workflow_id, status, run_id);

-- run ids sort by time, so new rows are appended at the right edge of the tree
create table events (
  run_id text not null,
  sequence integer not null,
  type text not null,
  at integer not null,
  node_id text,
  causation_id text,
  payload text not null,
  sealed text,
  primary key (run_id, sequence)
) strict, without rowid;

create table snapshots (
  run_id text not null primary key,
  next_seq integer not null,
  state text not null
) strict;

-- keys arrive in any order: with a rowid the rows are appended, and only the small index has scattered writes
create table idempotency (
  tenant text not null,
  operation text not null,
  key text not null,
  digest text not null,
  status integer not null,
  body text not null,
  expires_at integer not null,
  primary key (tenant, operation, key)
) strict;

create index idempotency_by_expires_at on idempotency (expires_at);

create table invocations (
  tenant text not null,
  invocation_id text not null,
  run_id text not null,
  node_id text not null,
  outcome text,
  claimed_at integer not null,
  claim_id text,
  events_pending integer not null,
  primary key (tenant, invocation_id)
) strict;

create index invocations_by_run on invocations (run_id);
create index invocations_by_claimed_at on invocations (claimed_at);

create table definitions (
  hash text not null primary key,
  body text not null
) strict;

-- binary data, such as pack archives
create table contents (
  hash text not null primary key,
  bytes blob not null
) strict;

-- the highest place of a tenant's id is its current version
create table workflows (
  place integer primary key autoincrement,
  tenant text not null,
  workflow_id text not null,
  hash text not null,
  version text not null,
  name text not null,
  registered_at integer not null,
  registered_by text,
  unique (tenant, workflow_id, hash)
) strict;

create table keys (
  key_id text not null primary key,
  tenant text not null,
  principal text not null,
  name text not null,
  hash text not null,
  scopes text not null,
  created_at integer not null,
  expires_at integer,
  revoked_at integer,
  workspace text not null default 'default'
) strict;

create index keys_by_tenant on keys (tenant);
create index keys_by_hash on keys (hash);

-- epochs are never used twice: autoincrement
create table leases (
  epoch integer primary key autoincrement,
  process_id text not null,
  acquired_at integer not null
) strict;

-- without a body: the text is in parts
create table blobs (
  hash text not null primary key,
  body text
) strict;

create table blob_parts (
  hash text not null,
  number integer not null,
  body text not null,
  primary key (hash, number)
) strict;

create view blob_texts as
select hash, coalesce(body, (
  select group_concat(part.body, '' order by number) from blob_parts as part where part.hash = blobs.hash
)) as body
from blobs;

create table blob_uses (
  holder text not null,
  hash text not null,
  primary key (holder, hash)
) strict, without rowid;

create index blob_uses_by_hash on blob_uses (hash);

-- bodies may be long: with a rowid they are not in the index that lists and counts read
create table entries (
  kind text not null,
  tenant text not null,
  id text not null,
  workspace text,
  ref text,
  version integer not null,
  due_at integer,
  expires_at integer,
  created_at integer not null,
  -- deleted with this run
  run_id text,
  body text not null,
  primary key (kind, tenant, id)
) strict;

create index entries_by_ref on entries (kind, tenant, ref, id) where ref is not null;
create index entries_by_due_at on entries (kind, due_at, id, tenant) where due_at is not null;
create index entries_by_expires_at on entries (expires_at) where expires_at is not null;
create index entries_by_run on entries (run_id) where run_id is not null;

create table entry_index (
  kind text not null,
  tenant text not null,
  name text not null,
  value text not null,
  id text not null,
  is_unique integer not null,
  primary key (kind, tenant, name, value, id)
) strict, without rowid;

create index entry_index_by_entry on entry_index (kind, tenant, id);
create unique index entry_index_unique on entry_index (kind, tenant, name, value) where is_unique;

create table counters (
  kind text not null,
  tenant text not null,
  id text not null,
  value integer not null,
  run_id text,
  expires_at integer,
  primary key (kind, tenant, id)
) strict, without rowid;

create index counters_by_run on counters (run_id) where run_id is not null;
create index counters_by_expires_at on counters (expires_at) where expires_at is not null;

-- numbers are never used twice: autoincrement
create table feed (
  number integer primary key autoincrement,
  kind text not null,
  tenant text not null,
  workspace text,
  id text not null,
  version integer not null,
  op text not null,
  actor text,
  at integer not null
) strict;

create index feed_by_tenant on feed (tenant, number);
create index feed_by_at on feed (at);
create index feed_by_kind on feed (tenant, kind, number);
