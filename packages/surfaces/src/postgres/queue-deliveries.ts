/** Deliveries of the queues in PostgreSQL: leased to a consumer, then settled or delivered again. */
import { OpenwopError } from '@gantry/protocol';
import type { QueueOutcome, QueueSettled } from '../ports/queue.ts';
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
import { tokenExpired, tooManyGroups } from '../queue/errors.ts';
import { type Granted, handleOf, type QueueLease, readHandle } from '../queue/queue-store.ts';
import type { Tx } from './connection.ts';
import { announce, bury, type Facts } from './queue-messages.ts';

interface Group {
  readonly id: number;
  readonly next_seq: number;
}

/** Consumers of one group take turns on its row; settled messages are passed over rather than waited for. */
export async function lease(tx: Tx, wanted: QueueLease, facts: Facts): Promise<Granted> {
  const group = await lockGroup(tx, wanted, facts);
  if (!group) return { handles: [], buried: false };
  const { leased, spent, room } = await leaseDue(tx, group, wanted, facts);
  const first = room.messages > 0 ? await leaseFresh(tx, group, wanted, facts, room) : [];
  const handles = [...leased, ...first].map((row) => handleOf({ ...row, groupId: group.id }));
  return { handles, buried: spent.length > 0 };
}

/** Asking for a topic without messages leaves nothing behind. */
async function lockGroup(
  tx: Tx,
  { topic, group }: QueueLease,
  { tenant, bounds: { groupsMax } }: Facts,
): Promise<Group | undefined> {
  const lock = () => tx<Group[]>`
    select id, next_seq from queue_groups
    where tenant = ${tenant} and topic = ${topic} and name = ${group} for update
  `;
  const [found] = await lock();
  if (found) return found;
  // Who makes groups of a topic takes turns, so that no two of them make the last one
  await tx`select 1 from queue_topics where tenant = ${tenant} and topic = ${topic} for update`;
  const [known] = await tx<{ groups: number }[]>`
    select count(*) as groups from queue_groups where tenant = ${tenant} and topic = ${topic} and name <> ${group}
  `;
  if (known && known.groups >= groupsMax) throw tooManyGroups(groupsMax);
  await tx`
    insert into queue_groups (tenant, topic, name, next_seq)
    select ${tenant}, ${topic}, ${group}, 0
    where exists (select 1 from queue_messages where tenant = ${tenant} and topic = ${topic})
    on conflict do nothing
  `;
  const [added] = await lock();
  return added;
}

async function leaseDue(tx: Tx, group: Group, wanted: QueueLease, facts: Facts): Promise<DueChoice<Found>> {
  const { topic, messagesMax, visibilityMs } = wanted;
  const { now, bounds } = facts;
  const found = await tx<Found[]>`
    select d.seq, d.count, m.bytes
    from queue_deliveries d join queue_messages m on m.seq = d.seq
    where d.group_id = ${group.id} and d.visible_at <= ${now} and m.expires_at > ${now}
    order by d.visible_at, d.seq limit ${messagesMax}
    for update of d skip locked
  `;
  const choice = chooseDue([...found], { topic, messagesMax, deliveriesMax: bounds.deliveriesMax });
  for (const { seq, count: deliveryCount } of choice.spent) {
    await bury(tx, { seq, topic, group: wanted.group, deliveryCount, reason: DELIVERY_LIMIT_REASON }, facts);
    await tx`delete from queue_deliveries where group_id = ${group.id} and seq = ${seq}`;
  }
  if (choice.leased.length > 0) {
    await tx`
      update queue_deliveries set count = count + 1, leased = true, visible_at = ${now + visibilityMs}
      where group_id = ${group.id} and seq in (${seqsOf(tx, choice.leased)})
    `;
  }
  return choice;
}

async function leaseFresh(
  tx: Tx,
  { id, next_seq: from }: Group,
  wanted: QueueLease,
  facts: Facts,
  room: Room,
  limit = freshLimit(room),
): Promise<readonly Found[]> {
  const { tenant, now } = facts;
  const found = await tx<(Found & { available_at: number })[]>`
    select seq, 0::bigint as count, bytes, available_at from queue_messages
    where tenant = ${tenant} and topic = ${wanted.topic} and seq >= ${from} and expires_at > ${now}
    order by seq limit ${limit}
  `;
  const { delayed, leased, next } = chooseFresh([...found], { now, from, room });
  if (next === from) return leased;
  await tx`
    insert into queue_deliveries (group_id, seq, count, leased, visible_at)
    select ${id}, seq,
      case when available_at > ${now} then 0 else 1 end,
      available_at <= ${now},
      case when available_at > ${now} then available_at else ${now + wanted.visibilityMs}::bigint end
    from queue_messages where seq in (${seqsOf(tx, [...delayed, ...leased])})
  `;
  await tx`update queue_groups set next_seq = ${next} where id = ${id}`;
  return delayed.length < limit
    ? leased
    : leaseFresh(tx, { id, next_seq: next }, wanted, facts, room, FURTHER_LIMIT);
}

const seqsOf = (tx: Tx, rows: readonly Found[]) => tx`
  select value::bigint from json_array_elements_text(${JSON.stringify(rows.map(({ seq }) => seq))}::text::json)
`;

export async function settle(
  tx: Tx,
  handle: string,
  wanted: QueueOutcome,
  facts: Facts,
): Promise<QueueSettled> {
  const parts = readHandle(handle);
  if (!parts) throw tokenExpired();
  const { groupId, seq, count } = parts;
  const [found] = await tx<{ topic: string; name: string }[]>`
    select g.topic, g.name
    from queue_groups g
    join queue_deliveries d on d.group_id = g.id
    join queue_messages m on m.seq = d.seq
    where g.id = ${groupId} and g.tenant = ${facts.tenant} and d.seq = ${seq} and d.count = ${count}
      and d.leased and d.visible_at > ${facts.now}
    for update of d
  `;
  if (!found) throw tokenExpired();
  const { topic, name: group } = found;
  const outcome = effective(wanted, { topic, count, deliveriesMax: facts.bounds.deliveriesMax });
  if (outcome.kind === 'again') {
    await tx`
      update queue_deliveries set leased = false, visible_at = ${facts.now + outcome.delayMs}
      where group_id = ${groupId} and seq = ${seq}
    `;
    await announce(tx, facts.tenant, topic);
    return { topic, dead: false };
  }
  if (outcome.kind === 'dead') {
    if (isDeadLetterTopic(topic)) throw new OpenwopError('validation_error', { message: ALREADY_DEAD });
    await bury(tx, { seq, topic, group, deliveryCount: count, reason: outcome.reason }, facts);
  }
  await tx`delete from queue_deliveries where group_id = ${groupId} and seq = ${seq}`;
  return { topic, dead: outcome.kind === 'dead' };
}
