-- Tables that every database file has.

-- Recorded answers of writes, so that a node that runs again gets the same answers. Keyed by run, node and
-- ordinal, so that rows written together are stored together.
create table invocations (
  tenant text not null,
  journal_key text not null,
  method text not null,
  fingerprint text not null,
  answer text not null,
  recorded_at integer not null,
  primary key (tenant, journal_key)
) strict, without rowid;
create index invocations_by_time on invocations (recorded_at);

-- Bytes used by a tenant in an area; maintained by triggers, so that no write can omit it.
create table usage (
  area text not null,
  tenant text not null,
  bytes integer not null,
  primary key (area, tenant)
) strict, without rowid;
