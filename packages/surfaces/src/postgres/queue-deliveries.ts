/** Deliveries of the queues in PostgreSQL: leased to a consumer, then settled or delivered again. */
import { chooseDue, chooseFresh, type Found, type Room } from '../capabilities/queue/choose.ts';
import { DELIVERY_LIMIT_REASON, isDeadLetterTopic } from '../capabilities/queue/dead-letter.ts';
import {
  type Granted,
  handleOf,
  type QueueLease,
  readHandle,
  WAY_LIMIT,
  type Waiting,
} from '../capabilities/queue/queue-store.ts';
import { alreadyDead, nothingThere, tokenExpired, tooManyGroups } from '../capabilities/queue/refusals.ts';
import type { ConsumerGroup, QueueOutcome, QueueSettled } from '../ports/queue.ts';
import type { Tx } from './connection.ts';
import {
  type Asked,
  byNumber,
  fromNumber,
  groupKey,
  loadFurther,
  loadGroups,
  type OpenGroup,
} from './queue-groups.ts';
import { addDeadLetter } from './queue-messages.ts';
import type { QueueAct, QueueTurn } from './queue-turn.ts';

export interface Asking {
  readonly now: number;
}

export const lease = (wanted: QueueLease, { now }: Asking) =>
  ({
    now,
    bytes: 0,
    wants: { kind: 'messages', lease: wanted } as const,
    async decide(turn: QueueTurn, tx: Tx): Promise<Granted> {
      const group = turn.groups.get(groupKey(wanted)) ?? (await addGroup(tx, turn, wanted));
      if (wanted.ifEmpty === 'refuse' && !(group && hasAny(turn, group, wanted))) throw nothingThere();
      if (!group) return { handles: [], buried: false };
      const { leased, spent, room } = await leaseDue(tx, turn, group, wanted);
      const first = room.messages > 0 ? await leaseFresh(tx, turn, group, wanted, room) : [];
      const handles = [...leased, ...first].map((row) => handleOf({ ...row, groupId: group.id }));
      return { handles, buried: spent.length > 0 };
    },
  }) satisfies QueueAct;

export function makeWay({ topic, group: name, deliveriesMax }: Waiting, { now }: Asking) {
  const wanted = { topic, group: name, messagesMax: WAY_LIMIT, deliveriesMax };
  return {
    now,
    bytes: 0,
    wants: { kind: 'messages', lease: wanted } as const,
    async decide(turn: QueueTurn, tx: Tx): Promise<{ buried: boolean }> {
      const group = turn.groups.get(groupKey(wanted)) ?? (await addGroup(tx, turn, wanted));
      if (!group) return { buried: false };
      const { spent } = dueOf(turn, group, wanted);
      await deadLetterSpent(tx, turn, group.id, wanted, spent);
      await leaseFresh(tx, turn, group, { ...wanted, visibilityMs: 0 }, { messages: 0, bytes: 0 });
      return { buried: spent.length > 0 };
    },
  } satisfies QueueAct;
}

/** Creates no group for a topic without messages. */
async function addGroup(
  tx: Tx,
  { tenant, now, bounds: { groupsMax }, groups }: QueueTurn,
  wanted: Asked,
): Promise<OpenGroup | undefined> {
  const { topic, group } = wanted;
  const [known] = await tx<{ groups: number; messages: boolean }[]>`
    select (select count(*) from queue_groups where tenant = ${tenant} and topic = ${topic}) as groups,
      exists (
        select 1 from (
          select seq from queue_messages where ${fromNumber(tx, { tenant, topic, from: 0 })} ${byNumber(tx)} limit 1
        ) as first
      ) as messages
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

type Due = Asked & Pick<QueueLease, 'deliveriesMax'>;

/** Chooses among deliveries that were not changed in this turn. */
function dueOf(turn: QueueTurn, group: OpenGroup, { topic, messagesMax, deliveriesMax }: Due) {
  const free = group.due.filter(({ seq }) => !turn.isTouched({ groupId: group.id, seq }));
  return chooseDue(free.slice(0, messagesMax), { topic, messagesMax, deliveriesMax });
}

const freshOf = ({ now }: QueueTurn, { fresh, next: from, end, isAllFresh }: OpenGroup, room: Room) =>
  chooseFresh(fresh, { now, from, room, end: isAllFresh ? end : null });

function hasAny(turn: QueueTurn, group: OpenGroup, wanted: Due): boolean {
  const { leased, room } = dueOf(turn, group, wanted);
  return leased.length > 0 || (room.messages > 0 && freshOf(turn, group, room).leased.length > 0);
}

async function deadLetterSpent(
  tx: Tx,
  turn: QueueTurn,
  groupId: number,
  { topic, group }: ConsumerGroup,
  spent: readonly Found[],
): Promise<void> {
  for (const { seq, count: deliveryCount } of spent) {
    await addDeadLetter(
      tx,
      turn,
      { seq, topic, group, deliveryCount, reason: DELIVERY_LIMIT_REASON },
      turn.now,
    );
    turn.forget({ groupId, seq });
  }
}

async function leaseDue(tx: Tx, turn: QueueTurn, group: OpenGroup, wanted: QueueLease) {
  const choice = dueOf(turn, group, wanted);
  const groupId = group.id;
  await deadLetterSpent(tx, turn, groupId, wanted, choice.spent);
  const visibleAt = turn.now + wanted.visibilityMs;
  for (const { seq, count } of choice.leased)
    turn.give({ groupId, seq, count, isLeased: true, visibleAt }, 'again');
  return choice;
}

async function leaseFresh(
  tx: Tx,
  turn: QueueTurn,
  group: OpenGroup,
  wanted: Pick<QueueLease, 'topic' | 'visibilityMs'>,
  room: Room,
): Promise<readonly Found[]> {
  const { tenant, now } = turn;
  const { delayed, leased, next } = freshOf(turn, group, room);
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

export function settle(handle: string, outcome: QueueOutcome, { now }: Asking) {
  const parts = readHandle(handle);
  return {
    now,
    bytes: 0,
    wants: { kind: 'delivery', handle: parts } as const,
    async decide(turn: QueueTurn, tx: Tx): Promise<QueueSettled> {
      const held = parts && turn.holder(parts);
      if (!held || held.visible_at <= now) throw tokenExpired();
      const { topic, name: group, groupId, seq, count } = held;
      if (outcome.kind === 'again') {
        turn.give({ groupId, seq, count, isLeased: false, visibleAt: now + outcome.delayMs }, 'again');
        turn.ring(topic);
        return { topic, dead: false };
      }
      if (outcome.kind === 'held') {
        turn.give({ groupId, seq, count, isLeased: true, visibleAt: now + outcome.visibilityMs }, 'again');
        return { topic, dead: false };
      }
      if (outcome.kind === 'dead') {
        if (isDeadLetterTopic(topic)) throw alreadyDead();
        await addDeadLetter(
          tx,
          turn,
          { seq, topic, group, deliveryCount: count, reason: outcome.reason },
          now,
        );
      }
      turn.forget({ groupId, seq });
      return { topic, dead: outcome.kind === 'dead' };
    },
  } satisfies QueueAct;
}
