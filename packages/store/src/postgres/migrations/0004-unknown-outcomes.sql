-- one row for a transaction whose answer is awaited; "fenced" when it can never commit
create table commit_marks (
  mark text collate "C" not null primary key,
  fenced boolean not null,
  created_at timestamptz not null default now()
);

alter table invocations add column claim_id text collate "C";
