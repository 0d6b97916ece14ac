-- Whether the process of a lease also holds an advisory lock. Processes of earlier versions hold none.
alter table leases add column has_lock boolean not null default false;
