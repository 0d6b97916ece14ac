/** Deliveries of the queues in PostgreSQL: leased to a consumer, then settled or delivered again. */
import { OpenwopError } from '@gantry/protocol';
import type { QueueOutcome, QueueSettled } from '../ports/queue.ts';
import { chooseDue, chooseFresh, effective, type Found, type Room } from '../queue/choose.ts';
import { ALREADY_DEAD, DELIVERY_LIMIT_REASON, isDeadLetterTopic } from '../queue/dead-letter.ts';
import { tokenExpired, tooManyGroups } from '../queue/errors.ts';
import { type Granted, handleOf, type QueueLease, readHandle } from '../queue/queue-store.ts';
import type { Tx } from './connection.ts';
import { groupKey, loadFurther, loadGroups, type OpenGroup } from './queue-groups.ts';
import { bury } from './queue-messages.ts';
import type { QueueAct, QueueTurn } from './queue-turn.ts';

/** `deliveriesMax`: of who asks. */
export interface Asking {
  readonly now: number;
  readonly deliveriesMax: number;
}

export const lease = (wanted: QueueLease, { now, deliveriesMax }: Asking) =>
  ({
    now,
    bytes: 0,
    wants: { kind: 'messages', lease: wanted } as const,
    async decide(turn: QueueTurn, tx: Tx): Promise<Granted> {
      const group = turn.groups.get(groupKey(wanted)) ?? (await addGroup(tx, turn, wanted));
      if (!group) return { handles: [], buried: false };
      const { leased, spent, room } = await leaseDue(tx, turn, group, { ...wanted, deliveriesMax });
      const first = room.messages > 0 ? await leaseFresh(tx, turn, group, wanted, room) : [];
      const handles = [...leased, ...first].map((row) => handleOf({ ...row, groupId: group.id }));
      return { handles, buried: spent.length > 0 };
    },
  }) satisfies QueueAct;

/** Asking for a topic without messages leaves nothing behind. */
async function addGroup(
  tx: Tx,
  { tenant, now, bounds: { groupsMax }, groups }: QueueTurn,
  wanted: QueueLease,
): Promise<OpenGroup | undefined> {
  const { topic, group } = wanted;
  const [known] = await tx<{ groups: number; messages: boolean }[]>`
    select (select count(*) from queue_groups where tenant = ${tenant} and topic = ${topic}) as groups,
      exists (select 1 from queue_messages where tenant = ${tenant} and topic = ${topic}) as messages
  `;
  if (known!.groups >= groupsMax) throw tooManyGroups(groupsMax);
  if (!known!.messages) return undefined;
  await tx`
    insert into queue_groups (tenant, topic, name, next_seq) values (${tenant}, ${topic}, ${group}, 0)
  `;
  const [[key, added]] = [...(await loadGroups(tx, { tenant, now }, [wanted]))] as [[string, OpenGroup]];
  groups.set(key, added);
  return added;
}

async function leaseDue(
  tx: Tx,
  turn: QueueTurn,
  group: OpenGroup,
  wanted: QueueLease & Pick<Asking, 'deliveriesMax'>,
) {
  const { topic, messagesMax, visibilityMs, deliveriesMax } = wanted;
  const { now } = turn;
  const groupId = group.id;
  const free = group.due.filter(({ seq }) => !turn.isTouched({ groupId, seq }));
  const choice = chooseDue(free.slice(0, messagesMax), {
    topic,
    messagesMax,
    deliveriesMax,
  });
  for (const { seq, count: deliveryCount } of choice.spent) {
    const burial = { seq, topic, group: wanted.group, deliveryCount, reason: DELIVERY_LIMIT_REASON };
    await bury(tx, turn, burial, now);
    turn.forget({ groupId, seq });
  }
  for (const { seq, count } of choice.leased)
    turn.give({ groupId, seq, count, isLeased: true, visibleAt: now + visibilityMs }, 'again');
  return choice;
}

async function leaseFresh(
  tx: Tx,
  turn: QueueTurn,
  group: OpenGroup,
  wanted: QueueLease,
  room: Room,
): Promise<readonly Found[]> {
  const { tenant, now } = turn;
  const { delayed, leased, next } = chooseFresh(group.fresh, { now, from: group.next, room });
  const groupId = group.id;
  for (const { seq, available_at: visibleAt } of delayed)
    turn.give({ groupId, seq, count: 0, isLeased: false, visibleAt }, 'first');
  for (const { seq } of leased)
    turn.give({ groupId, seq, count: 1, isLeased: true, visibleAt: now + wanted.visibilityMs }, 'first');
  group.next = next;
  group.fresh = group.fresh.filter(({ seq }) => seq >= next);
  if (leased.length > 0 || group.fresh.length > 0 || group.isAllFresh) return leased;
  await loadFurther(tx, { tenant, now, topic: wanted.topic }, group);
  return leaseFresh(tx, turn, group, wanted, room);
}

export function settle(handle: string, wanted: QueueOutcome, { now, deliveriesMax }: Asking) {
  const parts = readHandle(handle);
  return {
    now,
    bytes: 0,
    wants: { kind: 'delivery', handle: parts } as const,
    async decide(turn: QueueTurn, tx: Tx): Promise<QueueSettled> {
      const held = parts && turn.holder(parts);
      if (!held || held.visible_at <= now) throw tokenExpired();
      const { topic, name: group, groupId, seq, count } = held;
      const outcome = effective(wanted, { topic, count, deliveriesMax });
      if (outcome.kind === 'again') {
        turn.give({ groupId, seq, count, isLeased: false, visibleAt: now + outcome.delayMs }, 'again');
        turn.ring(topic);
        return { topic, dead: false };
      }
      if (outcome.kind === 'dead') {
        if (isDeadLetterTopic(topic)) throw new OpenwopError('validation_error', { message: ALREADY_DEAD });
        await bury(tx, turn, { seq, topic, group, deliveryCount: count, reason: outcome.reason }, now);
      }
      turn.forget({ groupId, seq });
      return { topic, dead: outcome.kind === 'dead' };
    },
  } satisfies QueueAct;
}
