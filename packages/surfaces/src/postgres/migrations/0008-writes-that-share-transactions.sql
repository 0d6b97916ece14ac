-- Writes to kv and cache are many rows in one statement: what they take is counted once for each statement, in one row
-- for each tenant, and in the order of tenants. So no two of them can wait for each other.
drop trigger kv_usage on kv;
drop trigger cache_usage on cache;
drop function count_usage();

with counted as (delete from usage where area in ('kv', 'cache') returning area, tenant, bytes)
insert into usage select area, tenant, 0, sum(bytes) from counted group by area, tenant;

create function count_added() returns trigger language plpgsql as $$
begin
  insert into usage
    select tg_table_name, tenant, 0, sum(bytes) from fresh group by tenant order by tenant
    on conflict (area, tenant, stripe) do update set bytes = usage.bytes + excluded.bytes;
  return null;
end;
$$;

create function count_removed() returns trigger language plpgsql as $$
begin
  insert into usage
    select tg_table_name, tenant, 0, -sum(bytes) from gone group by tenant order by tenant
    on conflict (area, tenant, stripe) do update set bytes = usage.bytes + excluded.bytes;
  return null;
end;
$$;

create function count_changed() returns trigger language plpgsql as $$
begin
  insert into usage
    select tg_table_name, tenant, 0, sum(bytes)
    from (select tenant, bytes from fresh union all select tenant, -bytes from gone) as sizes
    group by tenant having sum(bytes) <> 0 order by tenant
    on conflict (area, tenant, stripe) do update set bytes = usage.bytes + excluded.bytes;
  return null;
end;
$$;

create trigger kv_added after insert on kv
  referencing new table as fresh for each statement execute function count_added();
create trigger kv_removed after delete on kv
  referencing old table as gone for each statement execute function count_removed();
create trigger kv_changed after update on kv
  referencing old table as gone new table as fresh for each statement execute function count_changed();
create trigger cache_added after insert on cache
  referencing new table as fresh for each statement execute function count_added();
create trigger cache_removed after delete on cache
  referencing old table as gone for each statement execute function count_removed();
create trigger cache_changed after update on cache
  referencing old table as gone new table as fresh for each statement execute function count_changed();
