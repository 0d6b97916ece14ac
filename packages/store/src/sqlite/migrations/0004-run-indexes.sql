-- each filter of the run list is a range of an index, whatever the history of the tenant
create index runs_by_status on runs (tenant, status, run_id);
create index runs_by_workflow on runs (tenant, workflow_id, run_id);
create index runs_by_workflow_and_status on runs (tenant, workflow_id, status, run_id);

drop index runs_active_by_scope;
create index runs_active_by_scope on runs (tenant, scope_id, run_id) where scope_id is not null and ended_at is null;
