alter table invocations add column claim_id text;
