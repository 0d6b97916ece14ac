-- Who publishes to a topic holds its row until the commit, so that messages become visible in the order of their
-- numbers: a group, or a stream, that has seen one number need not look back.
create table queue_topics (
  tenant text not null,
  topic text not null,
  bytes bigint not null,
  primary key (tenant, topic)
);

-- Messages stay for their time whether they are consumed or not: streams read them from the beginning.
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
create index queue_messages_by_topic on queue_messages (tenant, topic, seq);
create index queue_messages_by_expiry on queue_messages (expires_at);

-- How far each group has come: all before next_seq were delivered to it, or wait in queue_deliveries.
create table queue_groups (
  id bigint generated always as identity primary key,
  tenant text not null,
  topic text not null,
  name text not null,
  next_seq bigint not null,
  unique (tenant, topic, name)
);

-- What a group was given and is not done with. Gone when it is.
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
