/** Deliveries of the embedded queues: leased to a consumer, then settled or delivered again. */
import type { DatabaseSync } from 'node:sqlite';
import {
  chooseDue,
  chooseFresh,
  type DueChoice,
  type Found,
  FURTHER_LIMIT,
  freshLimit,
  type Room,
} from '../capabilities/queue/choose.ts';
import { ALREADY_DEAD, DELIVERY_LIMIT_REASON, isDeadLetterTopic } from '../capabilities/queue/dead-letter.ts';
import { nothingThere } from '../capabilities/queue/nothing.ts';
import {
  type Granted,
  type HandleParts,
  handleOf,
  type QueueLease,
  readHandle,
  tooManyGroupsText,
  WAY_LIMIT,
  type Waiting,
} from '../capabilities/queue/queue-store.ts';
import type { ConsumerGroup, QueueBounds, QueueOutcome, QueueSettled } from '../ports/queue.ts';
import { Refusal } from '../refusal.ts';
import { type FullTenants, type Kept, keptMessages, type MessageWrites } from './queue-messages.ts';
import { LIMIT } from './statements.ts';

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

/** Ready to be delivered again, or for the first time after their delay. */
const DUE = `
  select d.seq, d.count, m.bytes
  from queue_deliveries d join queue_messages m on m.seq = d.seq
  where d.group_id = ? and d.visible_at <= ? and m.expires_at > ?
  order by d.visible_at, d.seq ${LIMIT}
`;
const FRESH = `
  select seq, 0 as count, bytes, available_at from queue_messages
  where tenant = ? and topic = ? and seq >= ? and expires_at > ? order by seq ${LIMIT}
`;
const LEASED = `
  select g.topic, g.name
  from queue_groups g
  join queue_deliveries d on d.group_id = g.id
  where g.id = ? and g.tenant = ? and d.seq = ? and d.count = ? and d.leased = 1 and d.visible_at > ?
`;

interface Shared extends Pick<MessageWrites, 'addDeadLetter'> {
  readonly full: FullTenants;
}

export function deliveryWrites(database: DatabaseSync, shared: Shared) {
  const finding = groups(database);
  const due = redeliveries(database, shared);
  const fresh = firstDeliveries(database);
  const kept = keptMessages(database);
  return {
    lease(lease: QueueLease, facts: Facts): AnsweredLease {
      const group = finding(lease, facts);
      if (group === null) return answered(lease, { handles: [], buried: false });
      const { leased, spent, room } = due.choose(group, lease, facts);
      due.give(group, leased, facts.now + lease.visibilityMs);
      const first = room.messages > 0 ? fresh(group, lease, facts, room) : [];
      const rows = [...leased, ...first];
      const handles = rows.map((row) => handleOf({ ...row, groupId: group.id }));
      const seqs = rows.map(({ seq }) => seq);
      const messages = kept(facts.tenant, seqs);
      return answered(lease, new NewLease({ handles, buried: spent.length > 0, messages }));
    },
    makeWay(consumers: Waiting, facts: Facts): { buried: boolean } {
      const group = finding(consumers, facts);
      if (group === null) return { buried: false };
      const { spent } = due.choose(group, { ...consumers, messagesMax: WAY_LIMIT }, facts);
      fresh(group, { ...consumers, visibilityMs: 0 }, facts, { messages: 0, bytes: 0 });
      return { buried: spent.length > 0 };
    },
    settle: settling(database, shared),
  };
}

function answered({ ifEmpty }: QueueLease, answer: AnsweredLease): AnsweredLease {
  if (ifEmpty === 'refuse' && answer.handles.length === 0) throw nothingThere();
  return answer;
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
  return ({ topic, group }: ConsumerGroup, { tenant, bounds: { groupsMax } }: Facts): Group | null => {
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

function redeliveries(database: DatabaseSync, { addDeadLetter, full }: Shared) {
  const due = database.prepare(DUE);
  const deliver = database.prepare(DELIVER);
  const remove = database.prepare('delete from queue_deliveries where group_id = ? and seq = ?');
  return {
    /** Buries what is spent. */
    choose(
      { id }: Group,
      wanted: Omit<QueueLease, 'visibilityMs' | 'ifEmpty'>,
      facts: Facts,
    ): DueChoice<Found> {
      const { topic, group, messagesMax, deliveriesMax } = wanted;
      const { tenant, now } = facts;
      const found = rowsOf<Found>(due.all(id, now, now, messagesMax));
      const choice = chooseDue(found, { topic, messagesMax, deliveriesMax });
      for (const { seq, count: deliveryCount } of choice.spent) {
        addDeadLetter({ seq, topic, group, deliveryCount, reason: DELIVERY_LIMIT_REASON }, facts);
        remove.run(id, seq);
        full.forget(tenant);
      }
      return choice;
    },
    give({ id }: Group, leased: readonly Found[], visibleAt: number): void {
      for (const { seq, count } of leased) deliver.run(id, seq, count, 1, visibleAt);
    },
  };
}

type Given = Pick<QueueLease, 'topic' | 'visibilityMs'>;

function firstDeliveries(database: DatabaseSync) {
  const fresh = database.prepare(FRESH);
  const deliver = database.prepare(DELIVER);
  const advance = database.prepare('update queue_groups set next_seq = ? where id = ?');
  const last = database.prepare('select max(seq) as seq from queue_messages where tenant = ? and topic = ?');
  return ({ id, next_seq }: Group, lease: Given, facts: Facts, room: Room): readonly Found[] => {
    const { tenant, now } = facts;
    for (let [from, limit] = [next_seq, freshLimit(room)]; ; limit = FURTHER_LIMIT) {
      const rows = rowsOf<FreshRow>(fresh.all(tenant, lease.topic, from, now, limit));
      const end = rows.length < limit ? Number(last.get(tenant, lease.topic)?.seq ?? 0) + 1 : null;
      const { delayed, leased, next } = chooseFresh(rows, { now, from, room, end });
      for (const { seq, available_at } of delayed) deliver.run(id, seq, 0, 0, available_at);
      for (const { seq } of leased) deliver.run(id, seq, 1, 1, now + lease.visibilityMs);
      if (next !== from) advance.run(next, id);
      if (delayed.length < limit) return leased;
      from = next;
    }
  };
}

const rowsOf = <T>(rows: unknown): T[] => rows as T[];

function settling(database: DatabaseSync, { addDeadLetter, full }: Shared) {
  const find = database.prepare(LEASED);
  const remove = database.prepare('delete from queue_deliveries where group_id = ? and seq = ?');
  const release = database.prepare(
    'update queue_deliveries set leased = 0, visible_at = ? where group_id = ? and seq = ?',
  );
  return (handle: string, outcome: QueueOutcome, facts: Facts): QueueSettled => {
    const { groupId, seq, count } = partsOf(handle);
    const found = find.get(groupId, facts.tenant, seq, count, facts.now) as Settling | undefined;
    if (!found) throw new Refusal('queue_delivery_token_expired');
    const { topic, name: group } = found;
    if (outcome.kind === 'dead' && isDeadLetterTopic(topic))
      throw new Refusal('validation_error', { message: ALREADY_DEAD });
    if (outcome.kind === 'again') release.run(facts.now + outcome.delayMs, groupId, seq);
    else {
      remove.run(groupId, seq);
      full.forget(facts.tenant);
    }
    if (outcome.kind === 'dead')
      addDeadLetter({ seq, topic, group, deliveryCount: count, reason: outcome.reason }, facts);
    return { topic, dead: outcome.kind === 'dead' };
  };
}

function partsOf(handle: string): HandleParts {
  const parts = readHandle(handle);
  if (!parts) throw new Refusal('queue_delivery_token_expired');
  return parts;
}

export interface AnsweredLease extends Omit<Granted, 'messages'> {
  /** Absent when the answer comes from the record. */
  readonly messages?: readonly Kept[];
}

/** The messages travel with the answer, which saves a second question; the record has what JSON shows. */
export class NewLease implements AnsweredLease {
  readonly handles: readonly string[];
  readonly buried: boolean;
  readonly messages: readonly Kept[];

  constructor({ handles, buried, messages }: Required<AnsweredLease>) {
    this.handles = handles;
    this.buried = buried;
    this.messages = messages;
  }

  toJSON(): AnsweredLease {
    return { handles: this.handles, buried: this.buried };
  }
}
