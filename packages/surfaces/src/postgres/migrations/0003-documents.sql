-- A collection of JSON documents. `columns` is what its documents must look like, null where they are free.
-- `indexes` lists fields whose values are kept in `cells`. Writers hold the row of their collection, so sequences
-- are committed in their order; none is used again, so cursors stay good when documents go.
create table collections (
  id bigint generated always as identity primary key,
  tenant text not null,
  space text not null,
  name text not null,
  columns text,
  indexes text[] not null default '{}',
  documents bigint not null default 0,
  last_seq bigint not null default 0,
  unique (tenant, space, name)
);

create table documents (
  collection bigint not null references collections,
  seq bigint not null,
  id text not null,
  doc jsonb not null,
  bytes bigint not null,
  primary key (collection, seq),
  unique (collection, id)
);

-- The beginning of the JSON of an indexed field: enough to find documents, which are then checked.
create table cells (
  collection bigint not null,
  field text not null,
  value text collate "C" not null,
  seq bigint not null,
  primary key (collection, field, value, seq)
);

create function cell_of(doc jsonb, field text) returns text language sql immutable as $$
  select left(coalesce(doc -> field, 'null')::text, 64)
$$;

-- Row by row: each lookup names the whole key, so no plan can go wrong however many rows there are.
create function keep_cells() returns trigger language plpgsql as $$
declare
  name text;
begin
  foreach name in array
    (select indexes from collections where id = case when tg_op = 'DELETE' then old.collection else new.collection end)
  loop
    continue when tg_op = 'UPDATE' and cell_of(old.doc, name) = cell_of(new.doc, name);
    if tg_op <> 'INSERT' then
      delete from cells where cells.collection = old.collection and cells.field = name
        and cells.value = cell_of(old.doc, name) collate "C" and cells.seq = old.seq;
    end if;
    if tg_op <> 'DELETE' then
      insert into cells values (new.collection, name, cell_of(new.doc, name), new.seq);
    end if;
  end loop;
  return null;
end;
$$;
create trigger documents_cells after insert or delete or update of doc on documents
  for each row execute function keep_cells();

-- Once for each statement: a row that is updated many times in one transaction gets slower with each.
create function documents_added() returns trigger language plpgsql as $$
begin
  update collections set documents = documents + added.many
    from (select collection, count(*) as many from fresh group by collection) as added where id = added.collection;
  insert into usage
    select 'documents', tenant, collection & 15, sum(bytes) from fresh join collections on collections.id = collection
    group by tenant, collection & 15
    on conflict (area, tenant, stripe) do update set bytes = usage.bytes + excluded.bytes;
  return null;
end;
$$;

create function documents_removed() returns trigger language plpgsql as $$
begin
  update collections set documents = documents - removed.many
    from (select collection, count(*) as many from gone group by collection) as removed where id = removed.collection;
  update usage set bytes = usage.bytes - removed.bytes
    from (select tenant, collection & 15 as stripe, sum(bytes) as bytes
      from gone join collections on collections.id = collection group by tenant, collection & 15) as removed
    where area = 'documents' and usage.tenant = removed.tenant and usage.stripe = removed.stripe;
  return null;
end;
$$;

create trigger documents_inserted after insert on documents
  referencing new table as fresh for each statement execute function documents_added();
create trigger documents_deleted after delete on documents
  referencing old table as gone for each statement execute function documents_removed();

create function documents_replaced() returns trigger language plpgsql as $$
begin
  update usage set bytes = usage.bytes + changed.grown
    from (select tenant, collection & 15 as stripe, sum(bytes) as grown
      from (select collection, bytes from fresh union all select collection, -bytes from gone) as sizes
      join collections on collections.id = collection group by tenant, collection & 15) as changed
    where area = 'documents' and usage.tenant = changed.tenant and usage.stripe = changed.stripe;
  return null;
end;
$$;
create trigger documents_updated after update on documents
  referencing old table as gone new table as fresh for each statement execute function documents_replaced();
