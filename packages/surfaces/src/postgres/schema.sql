-- Recorded answers of writes, so that a node that runs again gets the same answers. Keyed by run, node and
-- ordinal, so that rows written together are stored together.
create table invocations (
  tenant text not null,
  journal_key text not null,
  method text not null,
  fingerprint text not null,
  answer text not null,
  recorded_at bigint not null,
  primary key (tenant, journal_key)
);
create index invocations_by_time on invocations (recorded_at);

-- Bytes used by a tenant in an area; maintained by triggers, so that no write can omit it. Collections, which
-- are written by concurrent transactions, use several rows per tenant (`stripe`).
create table usage (
  area text not null,
  tenant text not null,
  stripe integer not null,
  bytes bigint not null,
  primary key (area, tenant, stripe)
);

-- Counts once per statement and in order of tenants, which avoids deadlocks.
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

-- Keys are sorted by their UTF-8 bytes. Values are JSON as text: jsonb cannot hold every text.
create table kv (
  tenant text not null,
  namespace text not null,
  key text collate "C" not null,
  value text not null,
  bytes bigint not null,
  expires_at bigint,
  primary key (tenant, namespace, key)
);
create index kv_by_expiry on kv (expires_at) where expires_at is not null;
create index kv_of_tenant_by_expiry on kv (tenant, expires_at) include (bytes) where expires_at is not null;
create trigger kv_added after insert on kv
  referencing new table as fresh for each statement execute function count_added();
create trigger kv_removed after delete on kv
  referencing old table as gone for each statement execute function count_removed();
create trigger kv_changed after update on kv
  referencing old table as gone new table as fresh for each statement execute function count_changed();

create table cache (
  id bigint generated always as identity,
  tenant text not null,
  namespace text not null,
  key text not null,
  value text not null,
  bytes bigint not null,
  stored_at bigint not null,
  used_at bigint not null,
  expires_at bigint not null,
  primary key (tenant, namespace, key)
);
create unique index cache_by_id on cache (id);
create index cache_by_use on cache (tenant, used_at, id);
create index cache_by_expiry on cache (expires_at);
create index cache_of_tenant_by_expiry on cache (tenant, expires_at);
create trigger cache_added after insert on cache
  referencing new table as fresh for each statement execute function count_added();
create trigger cache_removed after delete on cache
  referencing old table as gone for each statement execute function count_removed();
create trigger cache_changed after update on cache
  referencing old table as gone new table as fresh for each statement execute function count_changed();

-- The content of objects, in chunks. A row of blobs refers to it if it is `named`. Otherwise it is kept until
-- `keep_until`, for a sender or reader.
create table blob_contents (
  id bigint generated always as identity primary key,
  named boolean not null default false,
  keep_until bigint not null
);
create index blob_contents_by_time on blob_contents (keep_until) where not named;

create table blob_chunks (
  content bigint not null references blob_contents on delete cascade,
  ordinal integer not null,
  bytes bytea not null,
  primary key (content, ordinal)
);
-- Most content is already compressed.
alter table blob_chunks alter column bytes set storage external;

create table blobs (
  tenant text not null,
  bucket text not null,
  key text collate "C" not null,
  content bigint not null references blob_contents,
  size bigint not null,
  bytes bigint not null,
  content_type text,
  primary key (tenant, bucket, key)
);
create unique index blobs_by_content on blobs (content);
create trigger blobs_added after insert on blobs
  referencing new table as fresh for each statement execute function count_added();
create trigger blobs_removed after delete on blobs
  referencing old table as gone for each statement execute function count_removed();
create trigger blobs_changed after update on blobs
  referencing old table as gone new table as fresh for each statement execute function count_changed();

-- Publishing locks the row of its topic until the commit, so that messages become visible in the order of
-- their numbers: a group or a stream that has seen a number need not look back.
create table queue_topics (
  tenant text not null,
  topic text not null,
  bytes bigint not null,
  primary key (tenant, topic)
);

-- Messages are kept for their retention time whether they are consumed or not: streams read them from the beginning.
create table queue_messages (
  seq bigint generated always as identity primary key,
  tenant text not null,
  topic text not null,
  message_id text not null,
  payload text not null,
  headers text not null,
  bytes bigint not null,
  available_at bigint not null,
  expires_at bigint not null
);
create index queue_messages_by_expiry on queue_messages (expires_at);
create index queue_messages_of_tenant_by_expiry on queue_messages (tenant, expires_at);
-- With the topic first: a comparison in this column order can use no other index.
create index queue_messages_by_place on queue_messages (topic, tenant, seq);
create trigger queue_messages_added after insert on queue_messages
  referencing new table as fresh for each statement execute function count_added();
create trigger queue_messages_removed after delete on queue_messages
  referencing old table as gone for each statement execute function count_removed();

-- The progress of each group: all messages before next_seq were delivered to it, or wait in queue_deliveries.
create table queue_groups (
  id bigint generated always as identity primary key,
  tenant text not null,
  topic text not null,
  name text not null,
  next_seq bigint not null,
  unique (tenant, topic, name)
);

-- Messages that were delivered to a group and are not settled. Settling deletes the row.
create table queue_deliveries (
  group_id bigint not null,
  seq bigint not null,
  count bigint not null,
  leased boolean not null,
  visible_at bigint not null,
  primary key (group_id, seq)
);
create index queue_deliveries_by_time on queue_deliveries (group_id, visible_at, seq);
create index queue_deliveries_by_message on queue_deliveries (seq);

create function forget_queue_message() returns trigger language plpgsql as $$
begin
  update queue_topics set bytes = bytes - old.bytes where tenant = old.tenant and topic = old.topic;
  delete from queue_deliveries where seq = old.seq;
  return null;
end;
$$;
create trigger queue_message_deleted after delete on queue_messages
  for each row execute function forget_queue_message();

-- A collection of JSON documents. `columns` describes its documents; null if it has no schema. `indexes` lists
-- fields whose values are in `cells`; `filling` lists those whose cells are still being written, up to the
-- document `filled_seq`. Triggers maintain the cells of documents written meanwhile. Writers lock the row of
-- their collection, so sequences are committed in order; none is reused, so cursors stay valid.
create table collections (
  id bigint generated always as identity primary key,
  tenant text not null,
  space text not null,
  name text not null,
  columns text,
  indexes text[] not null default '{}',
  documents bigint not null default 0,
  last_seq bigint not null default 0,
  filling text[] not null default '{}',
  filled_seq bigint not null default 0,
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

-- The beginning of an indexed field's JSON: enough to find candidate documents, which are then checked.
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

-- Row by row: each lookup uses the whole key, so the plan does not depend on the number of rows.
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

-- Once per statement: repeated updates of a row in one transaction get slower each time.
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

-- Collections of vectors. Writers lock the row of their collection. pgvector can read `real[]`, which itself
-- needs no extension.
create table vector_collections (
  id bigint generated always as identity primary key,
  tenant text not null,
  name text not null,
  dimensions integer not null,
  metric text not null,
  vectors bigint not null default 0,
  unique (tenant, name)
);

create table vectors (
  collection bigint not null references vector_collections,
  id text not null,
  embedding real[] not null,
  doc jsonb,
  bytes bigint not null,
  primary key (collection, id)
);

-- Search indexes, with the totals that BM25 needs. Writers lock the row of their index.
create table search_indexes (
  id bigint generated always as identity primary key,
  tenant text not null,
  name text not null,
  documents bigint not null default 0,
  words bigint not null default 0,
  unique (tenant, name)
);

-- Lexemes are prefixed, and grams hashed, with the id of their index, so that posting lists are per index.
create table search_documents (
  idx bigint not null references search_indexes,
  id text collate "C" not null,
  doc jsonb not null,
  folded text not null,
  words integer not null,
  lexemes tsvector not null,
  grams integer[] not null,
  bytes bigint not null,
  primary key (idx, id)
);
create index search_documents_by_lexeme on search_documents using gin (lexemes);
create index search_documents_by_gram on search_documents using gin (grams);
