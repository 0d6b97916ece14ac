/** Deliveries of the embedded queues: leased to a consumer, then settled or delivered again. */
import type { DatabaseSync } from 'node:sqlite';
import type { QueueBounds, QueueOutcome, QueueSettled } from '../ports/queue.ts';
import {
  chooseDue,
  chooseFresh,
  type DueChoice,
  effective,
  type Found,
  FURTHER_LIMIT,
  freshLimit,
  type Room,
} from '../queue/choose.ts';
import { ALREADY_DEAD, DELIVERY_LIMIT_REASON, isDeadLetterTopic } from '../queue/dead-letter.ts';
import {
  type HandleParts,
  handleOf,
  type QueueLease,
  readHandle,
  tooManyGroupsText,
} from '../queue/queue-store.ts';
import { Refusal } from '../refusal.ts';
import { type AnsweredLease, NewLease } from './queue-lease.ts';
import { keptMessages } from './queue-log.ts';
import { messageWrites } from './queue-messages.ts';

export interface Facts {
  readonly tenant: string;
  readonly now: number;
  readonly bounds: QueueBounds;
}

interface FreshRow extends Found {
  readonly available_at: number;
}

interface Group {
  readonly id: number;
  readonly next_seq: number;
}

interface Settling {
  readonly topic: string;
  readonly name: string;
}

/**
 * Ready to be delivered again, or for the first time after their delay. With a bare parameter as its limit, here and
 * below, SQLite would plan it anew for every lease: [m] half of the time of one with 16 messages.
 */
const DUE = `
  select d.seq, d.count, m.bytes
  from queue_deliveries d join queue_messages m on m.seq = d.seq
  where d.group_id = ? and d.visible_at <= ? and m.expires_at > ?
  order by d.visible_at, d.seq limit ? + 0
`;
const FRESH = `
  select seq, 0 as count, bytes, available_at from queue_messages
  where tenant = ? and topic = ? and seq >= ? and expires_at > ? order by seq limit ? + 0
`;
const LEASED = `
  select g.topic, g.name
  from queue_groups g
  join queue_deliveries d on d.group_id = g.id
  where g.id = ? and g.tenant = ? and d.seq = ? and d.count = ? and d.leased = 1 and d.visible_at > ?
`;

export function deliveryWrites(database: DatabaseSync) {
  const finding = groups(database);
  const due = redeliveries(database);
  const fresh = firstDeliveries(database);
  const kept = keptMessages(database);
  return {
    lease(lease: QueueLease, facts: Facts): AnsweredLease {
      const group = finding(lease, facts);
      if (group === null) return { handles: [], buried: false };
      const { leased, spent, room } = due(group, lease, facts);
      const first = room.messages > 0 ? fresh(group, lease, facts, room) : [];
      const rows = [...leased, ...first];
      const handles = rows.map((row) => handleOf({ ...row, groupId: group.id }));
      const seqs = rows.map(({ seq }) => seq);
      return new NewLease({ handles, buried: spent.length > 0, messages: kept(facts.tenant, seqs) });
    },
    settle: settling(database),
  };
}

/** Asking for a topic without messages leaves nothing behind. */
function groups(database: DatabaseSync) {
  const find = database.prepare(
    'select id, next_seq from queue_groups where tenant = ? and topic = ? and name = ?',
  );
  const any = database.prepare('select 1 from queue_messages where tenant = ? and topic = ? limit 1');
  const count = database.prepare(
    'select count(*) as groups from queue_groups where tenant = ? and topic = ?',
  );
  const add = database.prepare(
    'insert into queue_groups (tenant, topic, name, next_seq) values (?, ?, ?, 0)',
  );
  return ({ topic, group }: QueueLease, { tenant, bounds: { groupsMax } }: Facts): Group | null => {
    const found = find.get(tenant, topic, group);
    if (found) return { id: Number(found.id), next_seq: Number(found.next_seq) };
    if (!any.get(tenant, topic)) return null;
    if (Number(count.get(tenant, topic)?.groups) >= groupsMax)
      throw new Refusal('queue_backend_unavailable', {
        message: tooManyGroupsText(groupsMax),
        details: { groupsMax },
      });
    return { id: Number(add.run(tenant, topic, group).lastInsertRowid), next_seq: 0 };
  };
}

const DELIVER = `
  insert into queue_deliveries (group_id, seq, count, leased, visible_at) values (?, ?, ?, ?, ?)
  on conflict do update set count = excluded.count, leased = excluded.leased, visible_at = excluded.visible_at
`;

function redeliveries(database: DatabaseSync) {
  const due = database.prepare(DUE);
  const deliver = database.prepare(DELIVER);
  const remove = database.prepare('delete from queue_deliveries where group_id = ? and seq = ?');
  const { bury } = messageWrites(database);
  return (group: Group, lease: QueueLease, facts: Facts): DueChoice<Found> => {
    const { topic, messagesMax, visibilityMs } = lease;
    const { now, bounds } = facts;
    const found = rowsOf<Found>(due.all(group.id, now, now, messagesMax));
    const choice = chooseDue(found, { topic, messagesMax, deliveriesMax: bounds.deliveriesMax });
    for (const { seq, count: deliveryCount } of choice.spent) {
      bury({ seq, topic, group: lease.group, deliveryCount, reason: DELIVERY_LIMIT_REASON }, facts);
      remove.run(group.id, seq);
    }
    for (const { seq, count } of choice.leased) deliver.run(group.id, seq, count, 1, now + visibilityMs);
    return choice;
  };
}

function firstDeliveries(database: DatabaseSync) {
  const fresh = database.prepare(FRESH);
  const deliver = database.prepare(DELIVER);
  const advance = database.prepare('update queue_groups set next_seq = ? where id = ?');
  const deliverFrom = (
    { id, next_seq: from }: Group,
    lease: QueueLease,
    facts: Facts,
    room: Room,
    limit = freshLimit(room),
  ): readonly Found[] => {
    const { tenant, now } = facts;
    const rows = rowsOf<FreshRow>(fresh.all(tenant, lease.topic, from, now, limit));
    const { delayed, leased, next } = chooseFresh(rows, { now, from, room });
    for (const { seq, available_at } of delayed) deliver.run(id, seq, 0, 0, available_at);
    for (const { seq } of leased) deliver.run(id, seq, 1, 1, now + lease.visibilityMs);
    advance.run(next, id);
    return delayed.length < limit
      ? leased
      : deliverFrom({ id, next_seq: next }, lease, facts, room, FURTHER_LIMIT);
  };
  return deliverFrom;
}

const rowsOf = <T>(rows: unknown): T[] => rows as T[];

function settling(database: DatabaseSync) {
  const find = database.prepare(LEASED);
  const remove = database.prepare('delete from queue_deliveries where group_id = ? and seq = ?');
  const release = database.prepare(
    'update queue_deliveries set leased = 0, visible_at = ? where group_id = ? and seq = ?',
  );
  const { bury } = messageWrites(database);
  return (handle: string, wanted: QueueOutcome, facts: Facts): QueueSettled => {
    const { groupId, seq, count } = partsOf(handle);
    const found = find.get(groupId, facts.tenant, seq, count, facts.now) as Settling | undefined;
    if (!found) throw new Refusal('queue_delivery_token_expired');
    const { topic, name: group } = found;
    const outcome = effective(wanted, { topic, count, deliveriesMax: facts.bounds.deliveriesMax });
    if (outcome.kind === 'dead' && isDeadLetterTopic(topic))
      throw new Refusal('validation_error', { message: ALREADY_DEAD });
    if (outcome.kind === 'again') release.run(facts.now + outcome.delayMs, groupId, seq);
    else remove.run(groupId, seq);
    if (outcome.kind === 'dead')
      bury({ seq, topic, group, deliveryCount: count, reason: outcome.reason }, facts);
    return { topic, dead: outcome.kind === 'dead' };
  };
}

function partsOf(handle: string): HandleParts {
  const parts = readHandle(handle);
  if (!parts) throw new Refusal('queue_delivery_token_expired');
  return parts;
}
