-- What writes were answered with, so that a node that runs again gets the same answers.
create table invocations (
  tenant text not null,
  id text not null,
  method text not null,
  fingerprint text not null,
  answer text not null,
  recorded_at bigint not null,
  primary key (tenant, id)
);
create index invocations_by_time on invocations (recorded_at);
