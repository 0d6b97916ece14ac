/** Deliveries of the embedded queues: leased to a consumer, then settled or delivered again. */
import {
  chooseDue,
  chooseFresh,
  type DueChoice,
  type Found,
  FURTHER_LIMIT,
  freshLimit,
  type Room,
} from '../capabilities/queue/choose.ts';
import { DELIVERY_LIMIT_REASON, isDeadLetterTopic } from '../capabilities/queue/dead-letter.ts';
import {
  type Granted,
  handleOf,
  type MessageRow,
  type QueueLease,
  readHandle,
  WAY_LIMIT,
  type Waiting,
} from '../capabilities/queue/queue-store.ts';
import { alreadyDead, nothingThere, tokenExpired, tooManyGroups } from '../capabilities/queue/refusals.ts';
import type { ConsumerGroup, QueueBounds, QueueOutcome, QueueSettled } from '../ports/queue.ts';
import { addDeadLetter, type FullTenants, keptMessages } from './queue-messages.ts';
import type { Sql } from './statements.ts';

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

export const deliveryWrites = (sql: Sql, full: FullTenants) => ({
  lease(lease: QueueLease, facts: Facts): AnsweredLease {
    const group = groupOf(sql, lease, facts);
    if (group === null) return answered(lease, { handles: [], buried: false });
    const { leased, spent, room } = chooseAmongDue(sql, full, group, lease, facts);
    for (const { seq, count } of leased) deliver(sql, group, seq, count, facts.now + lease.visibilityMs);
    const first = room.messages > 0 ? deliverFresh(sql, group, lease, facts, room) : [];
    const rows = [...leased, ...first];
    const handles = rows.map((row) => handleOf({ ...row, groupId: group.id }));
    const seqs = rows.map(({ seq }) => seq);
    const messages = keptMessages(sql, facts.tenant, seqs);
    return answered(lease, new NewLease({ handles, buried: spent.length > 0, messages }));
  },
  makeWay(consumers: Waiting, facts: Facts): { buried: boolean } {
    const group = groupOf(sql, consumers, facts);
    if (group === null) return { buried: false };
    const { spent } = chooseAmongDue(sql, full, group, { ...consumers, messagesMax: WAY_LIMIT }, facts);
    deliverFresh(sql, group, { ...consumers, visibilityMs: 0 }, facts, { messages: 0, bytes: 0 });
    return { buried: spent.length > 0 };
  },
  settle(handle: string, outcome: QueueOutcome, facts: Facts): QueueSettled {
    const { tenant, now } = facts;
    const parts = readHandle(handle);
    const found = parts && leasedTo(sql, parts, facts);
    if (!found) throw tokenExpired();
    const { groupId, seq, count } = parts;
    const { topic, name: group } = found;
    const isDead = outcome.kind === 'dead';
    if (isDead && isDeadLetterTopic(topic)) throw alreadyDead();
    if (outcome.kind === 'again') {
      sql.run`
        update queue_deliveries set leased = 0, visible_at = ${now + outcome.delayMs}
        where group_id = ${groupId} and seq = ${seq}
      `;
    } else if (outcome.kind === 'held') {
      sql.run`
        update queue_deliveries set visible_at = ${now + outcome.visibilityMs}
        where group_id = ${groupId} and seq = ${seq}
      `;
    } else forgetDelivery(sql, full, tenant, groupId, seq);
    if (isDead)
      addDeadLetter(sql, { seq, topic, group, deliveryCount: count, reason: outcome.reason }, facts);
    return { topic, dead: isDead };
  },
});

function answered({ ifEmpty }: QueueLease, answer: AnsweredLease): AnsweredLease {
  if (ifEmpty === 'refuse' && answer.handles.length === 0) throw nothingThere();
  return answer;
}

export const findGroup = (sql: Sql, tenant: string, { topic, group }: ConsumerGroup) => sql.get<Group>`
  select id, next_seq from queue_groups where tenant = ${tenant} and topic = ${topic} and name = ${group}
`;

/** Creates no group for a topic without messages. */
function groupOf(sql: Sql, consumers: ConsumerGroup, { tenant, bounds: { groupsMax } }: Facts): Group | null {
  const { topic, group } = consumers;
  const found = findGroup(sql, tenant, consumers);
  if (found) return found;
  if (!sql.number`select 1 from queue_messages where tenant = ${tenant} and topic = ${topic} limit 1`)
    return null;
  const groups = sql.number`select count(*) from queue_groups where tenant = ${tenant} and topic = ${topic}`;
  if (groups >= groupsMax) throw tooManyGroups(groupsMax);
  sql.run`insert into queue_groups (tenant, topic, name, next_seq) values (${tenant}, ${topic}, ${group}, 0)`;
  return findGroup(sql, tenant, consumers)!;
}

const leasedTo = (
  sql: Sql,
  { groupId, seq, count }: NonNullable<ReturnType<typeof readHandle>>,
  { tenant, now }: Facts,
) => sql.get<{ topic: string; name: string }>`
  select g.topic, g.name
  from queue_groups g
  join queue_deliveries d on d.group_id = g.id
  where g.id = ${groupId} and g.tenant = ${tenant} and d.seq = ${seq} and d.count = ${count} and d.leased = 1
    and d.visible_at > ${now}
`;

/** A count of 0: not delivered yet, and delayed until `visibleAt`. */
const deliver = (sql: Sql, { id }: Group, seq: number, count: number, visibleAt: number): unknown => sql.run`
  insert into queue_deliveries (group_id, seq, count, leased, visible_at)
  values (${id}, ${seq}, ${count}, ${count > 0 ? 1 : 0}, ${visibleAt})
  on conflict do update set count = excluded.count, leased = excluded.leased, visible_at = excluded.visible_at
`;

function forgetDelivery(sql: Sql, full: FullTenants, tenant: string, groupId: number, seq: number): void {
  sql.run`delete from queue_deliveries where group_id = ${groupId} and seq = ${seq}`;
  full.forget(tenant);
}

/**
 * Chooses among deliveries that are due again, or for the first time after a delay. Moves spent ones to dead letters.
 */
function chooseAmongDue(
  sql: Sql,
  full: FullTenants,
  { id }: Group,
  wanted: Omit<QueueLease, 'visibilityMs' | 'ifEmpty'>,
  facts: Facts,
): DueChoice<Found> {
  const { topic, group, messagesMax, deliveriesMax } = wanted;
  const { tenant, now } = facts;
  const found = sql.all<Found>`
    select d.seq, d.count, m.bytes
    from queue_deliveries d join queue_messages m on m.seq = d.seq
    where d.group_id = ${id} and d.visible_at <= ${now} and m.expires_at > ${now}
    order by d.visible_at, d.seq limit ${messagesMax} + 0
  `;
  const choice = chooseDue(found, { topic, messagesMax, deliveriesMax });
  for (const { seq, count: deliveryCount } of choice.spent) {
    addDeadLetter(sql, { seq, topic, group, deliveryCount, reason: DELIVERY_LIMIT_REASON }, facts);
    forgetDelivery(sql, full, tenant, id, seq);
  }
  return choice;
}

function deliverFresh(
  sql: Sql,
  group: Group,
  { topic, visibilityMs }: Pick<QueueLease, 'topic' | 'visibilityMs'>,
  { tenant, now }: Facts,
  room: Room,
): readonly Found[] {
  for (let [from, limit] = [group.next_seq, freshLimit(room)]; ; limit = FURTHER_LIMIT) {
    const rows = sql.all<FreshRow>`
      select seq, 0 as count, bytes, available_at from queue_messages
      where tenant = ${tenant} and topic = ${topic} and seq >= ${from} and expires_at > ${now}
      order by seq limit ${limit} + 0
    `;
    const end = rows.length < limit ? lastSeq(sql, tenant, topic) + 1 : null;
    const { delayed, leased, next } = chooseFresh(rows, { now, from, room, end });
    for (const { seq, available_at } of delayed) deliver(sql, group, seq, 0, available_at);
    for (const { seq } of leased) deliver(sql, group, seq, 1, now + visibilityMs);
    if (next !== from) sql.run`update queue_groups set next_seq = ${next} where id = ${group.id}`;
    if (delayed.length < limit) return leased;
    from = next;
  }
}

export const lastSeq = (sql: Sql, tenant: string, topic: string): number =>
  sql.number`select max(seq) from queue_messages where tenant = ${tenant} and topic = ${topic}`;

export interface AnsweredLease extends Omit<Granted, 'messages'> {
  /** Absent if the answer comes from the record. */
  readonly messages?: readonly MessageRow[];
}

/** The answer includes the messages, which saves a second request; the record has only the members of `toJSON`. */
export class NewLease implements AnsweredLease {
  readonly handles: readonly string[];
  readonly buried: boolean;
  readonly messages: readonly MessageRow[];

  constructor({ handles, buried, messages }: Required<AnsweredLease>) {
    this.handles = handles;
    this.buried = buried;
    this.messages = messages;
  }

  toJSON(): AnsweredLease {
    return { handles: this.handles, buried: this.buried };
  }
}
