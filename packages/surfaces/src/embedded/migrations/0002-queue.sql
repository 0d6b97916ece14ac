-- Messages stay for their time whether they are consumed or not: streams read them from the beginning.
create table queue_messages (
  seq integer primary key autoincrement,
  tenant text not null,
  topic text not null,
  message_id text not null,
  payload text not null,
  headers text not null,
  bytes integer not null,
  available_at integer not null,
  expires_at integer not null
) strict;
create index queue_messages_by_topic on queue_messages (tenant, topic, seq);
create index queue_messages_by_expiry on queue_messages (expires_at);

-- How far each group has come: all before next_seq were delivered to it, or wait in queue_deliveries.
create table queue_groups (
  id integer primary key,
  tenant text not null,
  topic text not null,
  name text not null,
  next_seq integer not null,
  unique (tenant, topic, name)
) strict;

-- What a group was given and is not done with. Gone when it is.
create table queue_deliveries (
  group_id integer not null,
  seq integer not null,
  count integer not null,
  leased integer not null,
  visible_at integer not null,
  primary key (group_id, seq)
) strict, without rowid;
create index queue_deliveries_by_time on queue_deliveries (group_id, visible_at, seq);
create index queue_deliveries_by_message on queue_deliveries (seq);

create trigger queue_message_inserted after insert on queue_messages begin
  insert into usage values ('queue', new.tenant, new.bytes)
    on conflict do update set bytes = bytes + excluded.bytes;
end;
create trigger queue_message_deleted after delete on queue_messages begin
  update usage set bytes = bytes - old.bytes where area = 'queue' and tenant = old.tenant;
  delete from queue_deliveries where seq = old.seq;
end;
