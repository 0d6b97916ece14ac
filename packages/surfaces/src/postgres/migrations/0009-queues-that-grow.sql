-- What the messages of a tenant take is in one row, however many topics it has. Processes of an older version may be
-- at work: what they add meanwhile waits, and is then counted.
lock table queue_messages in share row exclusive mode;
insert into usage select 'queue_messages', tenant, 0, sum(bytes) from queue_messages group by tenant;
create trigger queue_messages_added after insert on queue_messages
  referencing new table as fresh for each statement execute function count_added();
create trigger queue_messages_removed after delete on queue_messages
  referencing old table as gone for each statement execute function count_removed();

-- With the topic first: what is compared with this order finds no other index that would do.
create index queue_messages_by_place on queue_messages (topic, tenant, seq);
drop index queue_messages_by_topic;
