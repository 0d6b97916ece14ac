-- A change here is also a statement in `additions` of create-schema.ts, for older data. New columns come last.
-- ids compare by bytes ("C"), as they do in SQLite: the run list depends on it
create table runs (
  run_id text collate "C" not null primary key,
  tenant text collate "C" not null,
  workspace text collate "C",
  principal text collate "C",
  workflow_id text collate "C" not null,
  workflow_hash text collate "C" not null,
  scope_id text collate "C",
  created_at bigint not null,
  request text not null,
  status text collate "C" not null,
  owner bigint,
  wake_at bigint,
  ended_at bigint,
  next_seq integer not null
);

create index runs_by_wake_at on runs (wake_at) where owner is null and wake_at is not null;
create index runs_by_owner on runs (owner) where owner is not null;
create index runs_open on runs (tenant, run_id) where ended_at is null;
create index runs_by_ended_at on runs (ended_at) where ended_at is not null;
create index runs_active_by_scope on runs (tenant, scope_id, run_id) where scope_id is not null and ended_at is null;
-- without a status, the run list merges the ranges of all statuses: each run is in as few indexes as possible
create index runs_by_status on runs (tenant, status, run_id);
create index runs_by_workflow_and_status on runs (tenant, workflow_id, status, run_id);

create table events (
  run_id text collate "C" not null,
  sequence integer not null,
  type text collate "C" not null,
  at bigint not null,
  node_id text collate "C",
  causation_id text collate "C",
  payload text not null,
  sealed text,
  primary key (run_id, sequence)
);

create table snapshots (
  run_id text collate "C" not null primary key,
  next_seq integer not null,
  state text not null
);

create table idempotency (
  tenant text collate "C" not null,
  operation text collate "C" not null,
  key text collate "C" not null,
  digest text collate "C" not null,
  status integer not null,
  body text not null,
  expires_at bigint not null,
  primary key (tenant, operation, key)
);

create index idempotency_by_expires_at on idempotency (expires_at);

create table invocations (
  tenant text collate "C" not null,
  invocation_id text collate "C" not null,
  run_id text collate "C" not null,
  node_id text collate "C" not null,
  outcome text,
  claimed_at bigint not null,
  claim_id text collate "C",
  events_pending boolean not null,
  primary key (tenant, invocation_id)
);

create index invocations_by_run on invocations (run_id);
create index invocations_by_claimed_at on invocations (claimed_at);

create table definitions (
  hash text collate "C" not null primary key,
  body text not null
);

-- binary data, such as pack archives
create table contents (
  hash text not null primary key,
  bytes bytea not null
);

-- the highest place of a tenant's id is its current version
create table workflows (
  place bigint generated always as identity primary key,
  tenant text collate "C" not null,
  workflow_id text collate "C" not null,
  hash text collate "C" not null,
  version text collate "C" not null,
  name text collate "C" not null,
  registered_at bigint not null,
  registered_by text collate "C",
  unique (tenant, workflow_id, hash)
);

create table keys (
  key_id text collate "C" not null primary key,
  tenant text collate "C" not null,
  principal text collate "C" not null,
  name text collate "C" not null,
  hash text collate "C" not null,
  scopes text not null,
  created_at bigint not null,
  expires_at bigint,
  revoked_at bigint,
  workspace text collate "C" not null default 'default'
);

create index keys_by_tenant on keys (tenant);
create index keys_by_hash on keys (hash);

-- epochs are never used twice
create table leases (
  epoch bigint generated always as identity primary key,
  process_id text collate "C" not null,
  expires_at bigint not null
);

-- a body, or the upload that has its parts
create table blobs (
  hash text collate "C" not null primary key,
  body text,
  upload text collate "C",
  check (num_nulls(body, upload) = 1)
);

create table blob_parts (
  upload text collate "C" not null,
  number integer not null,
  body text not null,
  primary key (upload, number)
);

-- compressing 1 MiB takes the server 20 to 28 ms, during which small commits wait for a core
alter table blobs alter column body set storage external;
alter table blob_parts alter column body set storage external;

-- uploads that no blob uses yet
create table blob_uploads (
  upload text collate "C" not null primary key,
  created_at timestamptz not null default now()
);

-- functions keep this out of the plans of reads, for each column that may hold a large text
create function text_of_parts(text) returns text language sql stable as $$
  select string_agg(body, '' order by number) from blob_parts where upload = $1
$$;

create function bytes_of_parts(text) returns bigint language sql stable as $$
  select sum(octet_length(body)) from blob_parts where upload = $1
$$;

create view blob_texts as
select hash, coalesce(body, text_of_parts(upload)) as body, coalesce(octet_length(body), bytes_of_parts(upload)) as bytes
from blobs;

create table blob_uses (
  holder text collate "C" not null,
  hash text collate "C" not null,
  primary key (holder, hash)
);

create index blob_uses_by_hash on blob_uses (hash);

-- one row per transaction whose answer is pending; "fenced" if it can never commit
create table commit_marks (
  mark text collate "C" not null primary key,
  fenced boolean not null,
  created_at timestamptz not null default now()
);

create table entries (
  kind text collate "C" not null,
  tenant text collate "C" not null,
  id text collate "C" not null,
  workspace text collate "C",
  ref text collate "C",
  version bigint not null,
  due_at bigint,
  expires_at bigint,
  created_at bigint not null,
  -- deleted with this run
  run_id text collate "C",
  body text not null,
  primary key (kind, tenant, id)
);

create index entries_by_ref on entries (kind, tenant, ref, id) where ref is not null;
create index entries_by_due_at on entries (kind, due_at, id, tenant) where due_at is not null;
create index entries_by_expires_at on entries (expires_at) where expires_at is not null;
create index entries_by_run on entries (run_id) where run_id is not null;

create table entry_index (
  kind text collate "C" not null,
  tenant text collate "C" not null,
  name text collate "C" not null,
  value text collate "C" not null,
  id text collate "C" not null,
  is_unique boolean not null,
  primary key (kind, tenant, name, value, id)
);

create index entry_index_by_entry on entry_index (kind, tenant, id);
create unique index entry_index_unique on entry_index (kind, tenant, name, value) where is_unique;

create table counters (
  kind text collate "C" not null,
  tenant text collate "C" not null,
  id text collate "C" not null,
  value bigint not null,
  run_id text collate "C",
  expires_at bigint,
  primary key (kind, tenant, id)
);

create index counters_by_run on counters (run_id) where run_id is not null;
create index counters_by_expires_at on counters (expires_at) where expires_at is not null;

create sequence feed_number;

create table feed (
  number bigint not null default nextval('feed_number') primary key,
  kind text collate "C" not null,
  tenant text collate "C" not null,
  workspace text collate "C",
  id text collate "C" not null,
  version bigint not null,
  op text collate "C" not null,
  actor text collate "C",
  at bigint not null
);

create index feed_by_tenant on feed (tenant, number);
create index feed_by_at on feed (at);
create index feed_by_kind on feed (tenant, kind, number);
