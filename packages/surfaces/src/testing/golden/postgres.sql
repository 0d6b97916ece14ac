-- Schema version 13
blob_chunks.content bigint not null
blob_chunks.ordinal integer not null
blob_chunks.bytes bytea not null
blob_contents.id bigint not null
blob_contents.named boolean not null default false
blob_contents.keep_until bigint not null
blobs.tenant text not null
blobs.bucket text not null
blobs.key text collate C not null
blobs.content bigint not null
blobs.size bigint not null
blobs.bytes bigint not null
blobs.content_type text
cache.id bigint not null
cache.tenant text not null
cache.namespace text not null
cache.key text not null
cache.value text not null
cache.bytes bigint not null
cache.stored_at bigint not null
cache.used_at bigint not null
cache.expires_at bigint not null
cells.collection bigint not null
cells.field text not null
cells.value text collate C not null
cells.seq bigint not null
collections.id bigint not null
collections.tenant text not null
collections.space text not null
collections.name text not null
collections.columns text
collections.indexes ARRAY not null default '{}'::text[]
collections.documents bigint not null default 0
collections.last_seq bigint not null default 0
collections.filling ARRAY not null default '{}'::text[]
collections.filled_seq bigint not null default 0
documents.collection bigint not null
documents.seq bigint not null
documents.id text not null
documents.doc jsonb not null
documents.bytes bigint not null
invocations.tenant text not null
invocations.journal_key text not null
invocations.method text not null
invocations.fingerprint text not null
invocations.answer text not null
invocations.recorded_at bigint not null
kv.tenant text not null
kv.namespace text not null
kv.key text collate C not null
kv.value text not null
kv.bytes bigint not null
kv.expires_at bigint
queue_deliveries.group_id bigint not null
queue_deliveries.seq bigint not null
queue_deliveries.count bigint not null
queue_deliveries.leased boolean not null
queue_deliveries.visible_at bigint not null
queue_groups.id bigint not null
queue_groups.tenant text not null
queue_groups.topic text not null
queue_groups.name text not null
queue_groups.next_seq bigint not null
queue_messages.seq bigint not null
queue_messages.tenant text not null
queue_messages.topic text not null
queue_messages.message_id text not null
queue_messages.payload text not null
queue_messages.headers text not null
queue_messages.bytes bigint not null
queue_messages.available_at bigint not null
queue_messages.expires_at bigint not null
queue_topics.tenant text not null
queue_topics.topic text not null
queue_topics.bytes bigint not null
schema_version.version integer not null
search_documents.idx bigint not null
search_documents.id text collate C not null
search_documents.doc jsonb not null
search_documents.folded text not null
search_documents.words integer not null
search_documents.lexemes tsvector not null
search_documents.grams ARRAY not null
search_documents.bytes bigint not null
search_indexes.id bigint not null
search_indexes.tenant text not null
search_indexes.name text not null
search_indexes.documents bigint not null default 0
search_indexes.words bigint not null default 0
usage.area text not null
usage.tenant text not null
usage.stripe integer not null
usage.bytes bigint not null
vector_collections.id bigint not null
vector_collections.tenant text not null
vector_collections.name text not null
vector_collections.dimensions integer not null
vector_collections.metric text not null
vector_collections.vectors bigint not null default 0
vectors.collection bigint not null
vectors.id text not null
vectors.embedding ARRAY not null
vectors.doc jsonb
vectors.bytes bigint not null
blob_chunks FOREIGN KEY (content) REFERENCES blob_contents(id) ON DELETE CASCADE
blob_chunks PRIMARY KEY (content, ordinal)
blob_contents PRIMARY KEY (id)
blobs FOREIGN KEY (content) REFERENCES blob_contents(id)
blobs PRIMARY KEY (tenant, bucket, key)
cache PRIMARY KEY (tenant, namespace, key)
cells PRIMARY KEY (collection, field, value, seq)
collections PRIMARY KEY (id)
collections UNIQUE (tenant, space, name)
documents FOREIGN KEY (collection) REFERENCES collections(id)
documents UNIQUE (collection, id)
documents PRIMARY KEY (collection, seq)
invocations PRIMARY KEY (tenant, journal_key)
kv PRIMARY KEY (tenant, namespace, key)
queue_deliveries PRIMARY KEY (group_id, seq)
queue_groups PRIMARY KEY (id)
queue_groups UNIQUE (tenant, topic, name)
queue_messages PRIMARY KEY (seq)
queue_topics PRIMARY KEY (tenant, topic)
search_documents FOREIGN KEY (idx) REFERENCES search_indexes(id)
search_documents PRIMARY KEY (idx, id)
search_indexes PRIMARY KEY (id)
search_indexes UNIQUE (tenant, name)
usage PRIMARY KEY (area, tenant, stripe)
vector_collections PRIMARY KEY (id)
vector_collections UNIQUE (tenant, name)
vectors FOREIGN KEY (collection) REFERENCES vector_collections(id)
vectors PRIMARY KEY (collection, id)
CREATE UNIQUE INDEX blob_chunks_pkey ON gantry_surfaces.blob_chunks USING btree (content, ordinal)
CREATE INDEX blob_contents_by_time ON gantry_surfaces.blob_contents USING btree (keep_until) WHERE (NOT named)
CREATE UNIQUE INDEX blob_contents_pkey ON gantry_surfaces.blob_contents USING btree (id)
CREATE UNIQUE INDEX blobs_by_content ON gantry_surfaces.blobs USING btree (content)
CREATE UNIQUE INDEX blobs_pkey ON gantry_surfaces.blobs USING btree (tenant, bucket, key)
CREATE INDEX cache_by_expiry ON gantry_surfaces.cache USING btree (expires_at)
CREATE UNIQUE INDEX cache_by_id ON gantry_surfaces.cache USING btree (id)
CREATE INDEX cache_by_use ON gantry_surfaces.cache USING btree (tenant, used_at, id)
CREATE INDEX cache_of_tenant_by_expiry ON gantry_surfaces.cache USING btree (tenant, expires_at)
CREATE UNIQUE INDEX cache_pkey ON gantry_surfaces.cache USING btree (tenant, namespace, key)
CREATE UNIQUE INDEX cells_pkey ON gantry_surfaces.cells USING btree (collection, field, value, seq)
CREATE UNIQUE INDEX collections_pkey ON gantry_surfaces.collections USING btree (id)
CREATE UNIQUE INDEX collections_tenant_space_name_key ON gantry_surfaces.collections USING btree (tenant, space, name)
CREATE UNIQUE INDEX documents_collection_id_key ON gantry_surfaces.documents USING btree (collection, id)
CREATE UNIQUE INDEX documents_pkey ON gantry_surfaces.documents USING btree (collection, seq)
CREATE INDEX invocations_by_time ON gantry_surfaces.invocations USING btree (recorded_at)
CREATE UNIQUE INDEX invocations_pkey ON gantry_surfaces.invocations USING btree (tenant, journal_key)
CREATE INDEX kv_by_expiry ON gantry_surfaces.kv USING btree (expires_at) WHERE (expires_at IS NOT NULL)
CREATE INDEX kv_of_tenant_by_expiry ON gantry_surfaces.kv USING btree (tenant, expires_at) INCLUDE (bytes) WHERE (expires_at IS NOT NULL)
CREATE UNIQUE INDEX kv_pkey ON gantry_surfaces.kv USING btree (tenant, namespace, key)
CREATE INDEX queue_deliveries_by_message ON gantry_surfaces.queue_deliveries USING btree (seq)
CREATE INDEX queue_deliveries_by_time ON gantry_surfaces.queue_deliveries USING btree (group_id, visible_at, seq)
CREATE UNIQUE INDEX queue_deliveries_pkey ON gantry_surfaces.queue_deliveries USING btree (group_id, seq)
CREATE UNIQUE INDEX queue_groups_pkey ON gantry_surfaces.queue_groups USING btree (id)
CREATE UNIQUE INDEX queue_groups_tenant_topic_name_key ON gantry_surfaces.queue_groups USING btree (tenant, topic, name)
CREATE INDEX queue_messages_by_expiry ON gantry_surfaces.queue_messages USING btree (expires_at)
CREATE INDEX queue_messages_by_place ON gantry_surfaces.queue_messages USING btree (topic, tenant, seq)
CREATE INDEX queue_messages_of_tenant_by_expiry ON gantry_surfaces.queue_messages USING btree (tenant, expires_at)
CREATE UNIQUE INDEX queue_messages_pkey ON gantry_surfaces.queue_messages USING btree (seq)
CREATE UNIQUE INDEX queue_topics_pkey ON gantry_surfaces.queue_topics USING btree (tenant, topic)
CREATE INDEX search_documents_by_gram ON gantry_surfaces.search_documents USING gin (grams)
CREATE INDEX search_documents_by_lexeme ON gantry_surfaces.search_documents USING gin (lexemes)
CREATE UNIQUE INDEX search_documents_pkey ON gantry_surfaces.search_documents USING btree (idx, id)
CREATE UNIQUE INDEX search_indexes_pkey ON gantry_surfaces.search_indexes USING btree (id)
CREATE UNIQUE INDEX search_indexes_tenant_name_key ON gantry_surfaces.search_indexes USING btree (tenant, name)
CREATE UNIQUE INDEX usage_pkey ON gantry_surfaces.usage USING btree (area, tenant, stripe)
CREATE UNIQUE INDEX vector_collections_pkey ON gantry_surfaces.vector_collections USING btree (id)
CREATE UNIQUE INDEX vector_collections_tenant_name_key ON gantry_surfaces.vector_collections USING btree (tenant, name)
CREATE UNIQUE INDEX vectors_pkey ON gantry_surfaces.vectors USING btree (collection, id)
CREATE OR REPLACE FUNCTION gantry_surfaces.cell_of(doc jsonb, field text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select left(coalesce(doc -> field, 'null')::text, 64)
$function$
CREATE OR REPLACE FUNCTION gantry_surfaces.count_added()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into usage
    select tg_table_name, tenant, 0, sum(bytes) from fresh group by tenant order by tenant
    on conflict (area, tenant, stripe) do update set bytes = usage.bytes + excluded.bytes;
  return null;
end;
$function$
CREATE OR REPLACE FUNCTION gantry_surfaces.count_changed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into usage
    select tg_table_name, tenant, 0, sum(bytes)
    from (select tenant, bytes from fresh union all select tenant, -bytes from gone) as sizes
    group by tenant having sum(bytes) <> 0 order by tenant
    on conflict (area, tenant, stripe) do update set bytes = usage.bytes + excluded.bytes;
  return null;
end;
$function$
CREATE OR REPLACE FUNCTION gantry_surfaces.count_removed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into usage
    select tg_table_name, tenant, 0, -sum(bytes) from gone group by tenant order by tenant
    on conflict (area, tenant, stripe) do update set bytes = usage.bytes + excluded.bytes;
  return null;
end;
$function$
CREATE OR REPLACE FUNCTION gantry_surfaces.documents_added()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update collections set documents = documents + added.many
    from (select collection, count(*) as many from fresh group by collection) as added where id = added.collection;
  insert into usage
    select 'documents', tenant, collection & 15, sum(bytes) from fresh join collections on collections.id = collection
    group by tenant, collection & 15
    on conflict (area, tenant, stripe) do update set bytes = usage.bytes + excluded.bytes;
  return null;
end;
$function$
CREATE OR REPLACE FUNCTION gantry_surfaces.documents_removed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update collections set documents = documents - removed.many
    from (select collection, count(*) as many from gone group by collection) as removed where id = removed.collection;
  update usage set bytes = usage.bytes - removed.bytes
    from (select tenant, collection & 15 as stripe, sum(bytes) as bytes
      from gone join collections on collections.id = collection group by tenant, collection & 15) as removed
    where area = 'documents' and usage.tenant = removed.tenant and usage.stripe = removed.stripe;
  return null;
end;
$function$
CREATE OR REPLACE FUNCTION gantry_surfaces.documents_replaced()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update usage set bytes = usage.bytes + changed.grown
    from (select tenant, collection & 15 as stripe, sum(bytes) as grown
      from (select collection, bytes from fresh union all select collection, -bytes from gone) as sizes
      join collections on collections.id = collection group by tenant, collection & 15) as changed
    where area = 'documents' and usage.tenant = changed.tenant and usage.stripe = changed.stripe;
  return null;
end;
$function$
CREATE OR REPLACE FUNCTION gantry_surfaces.forget_queue_message()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update queue_topics set bytes = bytes - old.bytes where tenant = old.tenant and topic = old.topic;
  delete from queue_deliveries where seq = old.seq;
  return null;
end;
$function$
CREATE OR REPLACE FUNCTION gantry_surfaces.keep_cells()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$
CREATE TRIGGER blobs_added AFTER INSERT ON gantry_surfaces.blobs REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION count_added()
CREATE TRIGGER blobs_changed AFTER UPDATE ON gantry_surfaces.blobs REFERENCING OLD TABLE AS gone NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION count_changed()
CREATE TRIGGER blobs_removed AFTER DELETE ON gantry_surfaces.blobs REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION count_removed()
CREATE TRIGGER cache_added AFTER INSERT ON gantry_surfaces.cache REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION count_added()
CREATE TRIGGER cache_changed AFTER UPDATE ON gantry_surfaces.cache REFERENCING OLD TABLE AS gone NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION count_changed()
CREATE TRIGGER cache_removed AFTER DELETE ON gantry_surfaces.cache REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION count_removed()
CREATE TRIGGER documents_cells AFTER INSERT OR DELETE OR UPDATE OF doc ON gantry_surfaces.documents FOR EACH ROW EXECUTE FUNCTION keep_cells()
CREATE TRIGGER documents_deleted AFTER DELETE ON gantry_surfaces.documents REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION documents_removed()
CREATE TRIGGER documents_inserted AFTER INSERT ON gantry_surfaces.documents REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION documents_added()
CREATE TRIGGER documents_updated AFTER UPDATE ON gantry_surfaces.documents REFERENCING OLD TABLE AS gone NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION documents_replaced()
CREATE TRIGGER kv_added AFTER INSERT ON gantry_surfaces.kv REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION count_added()
CREATE TRIGGER kv_changed AFTER UPDATE ON gantry_surfaces.kv REFERENCING OLD TABLE AS gone NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION count_changed()
CREATE TRIGGER kv_removed AFTER DELETE ON gantry_surfaces.kv REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION count_removed()
CREATE TRIGGER queue_message_deleted AFTER DELETE ON gantry_surfaces.queue_messages FOR EACH ROW EXECUTE FUNCTION forget_queue_message()
CREATE TRIGGER queue_messages_added AFTER INSERT ON gantry_surfaces.queue_messages REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION count_added()
CREATE TRIGGER queue_messages_removed AFTER DELETE ON gantry_surfaces.queue_messages REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION count_removed()
