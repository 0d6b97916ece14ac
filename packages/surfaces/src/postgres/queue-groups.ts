/** Loads consumer groups of the queues in PostgreSQL: messages to deliver, and held deliveries. */
import { type Found, FURTHER_LIMIT, freshLimit } from '../capabilities/queue/choose.ts';
import type { HandleParts, QueueLease } from '../capabilities/queue/queue-store.ts';
import type { Sql, Tx } from './connection.ts';
import { column } from './together.ts';

interface Fresh extends Found {
  readonly available_at: number;
}

/** Shared by the consumers of a turn. */
export interface OpenGroup {
  readonly id: number;
  /** Its position when the turn began. */
  readonly from: number;
  next: number;
  /** After the last message of the topic. Turns are serialized, so no message can appear before it. */
  readonly end: number;
  due: readonly Found[];
  fresh: readonly Fresh[];
  isAllFresh: boolean;
}

export interface Held extends HandleParts {
  readonly topic: string;
  readonly name: string;
  readonly visible_at: number;
}

interface When {
  readonly tenant: string;
  readonly now: number;
}

export type Asked = Pick<QueueLease, 'topic' | 'group' | 'messagesMax'>;

/** A group, and the total number of messages that its callers want. */
interface Wanted {
  readonly topic: string;
  readonly group: string;
  readonly messages: number;
}

export const groupKey = ({ topic, group }: Pick<Wanted, 'topic' | 'group'>): string =>
  JSON.stringify([topic, group]);

export async function loadHeld(tx: Tx, tenant: string, handles: readonly HandleParts[]): Promise<Held[]> {
  if (handles.length === 0) return [];
  return tx<Held[]>`
    select wanted.group_id as "groupId", wanted.seq, wanted.count, found.*
    from unnest(${column(handles, 'groupId')}::bigint[], ${column(handles, 'seq')}::bigint[],
      ${column(handles, 'count')}::bigint[]) as wanted (group_id, seq, count)
    cross join lateral (
      select g.topic, g.name, d.visible_at
      from queue_deliveries d
      join queue_groups g on g.id = d.group_id
      join queue_messages m on m.seq = d.seq
      where d.group_id = wanted.group_id and d.seq = wanted.seq and d.count = wanted.count and d.leased
        and g.tenant = ${tenant} limit 1
    ) as found
  `;
}

export async function loadGroups(
  tx: Tx,
  { tenant, now }: When,
  leases: readonly Asked[],
): Promise<Map<string, OpenGroup>> {
  const wanted = together(leases);
  if (wanted.length === 0) return new Map();
  const groups = tx`
    select g.id, g.topic, g.name, g.next_seq, wanted.messages
    from unnest(${column(wanted, 'topic')}::text[], ${column(wanted, 'group')}::text[],
      ${column(wanted, 'messages')}::bigint[]) as wanted (topic, name, messages)
    join queue_groups g on g.tenant = ${tenant} and g.topic = wanted.topic and g.name = wanted.name
  `;
  const ofEach = { tenant, topic: tx`g.topic`, from: tx`g.next_seq` };
  const [found, due, fresh] = await Promise.all([
    tx<(GroupRow & { messages: number })[]>`
      select g.*, (
        select seq + 1 from queue_messages where ${fromNumber(tx, ofEach)} ${lastFirst(tx)} limit 1
      ) as stop from (${groups}) as g
    `,
    tx<(Found & OfGroup)[]>`
      select g.id as group_id, due.* from (${groups}) as g cross join lateral (
        select d.seq, d.count, m.bytes from queue_deliveries d join queue_messages m on m.seq = d.seq
        where d.group_id = g.id and d.visible_at <= ${now} and m.expires_at > ${now}
        order by d.visible_at, d.seq limit g.messages
      ) as due
    `,
    tx<(Fresh & OfGroup)[]>`
      select g.id as group_id, fresh.* from (${groups}) as g cross join lateral (
        select seq, 0::bigint as count, bytes, available_at from queue_messages
        where ${fromNumber(tx, ofEach)} and expires_at > ${now}
        ${byNumber(tx)} limit g.messages + ${freshLimit(NO_ROOM)}
      ) as fresh
    `,
  ]);
  const [dueOf, freshOf] = [Map.groupBy(due, ofGroup), Map.groupBy(fresh, ofGroup)];
  const opened = found.map(({ id, topic, name, next_seq: next, stop, messages }): [string, OpenGroup] => {
    const ready = freshOf.get(id) ?? [];
    const isAllFresh = ready.length < freshLimit({ ...NO_ROOM, messages });
    return [
      groupKey({ topic, group: name }),
      { id, from: next, next, end: stop ?? next, due: dueOf.get(id) ?? [], fresh: ready, isAllFresh },
    ];
  });
  return new Map(opened);
}

interface GroupRow {
  readonly id: number;
  readonly topic: string;
  readonly name: string;
  readonly next_seq: number;
  /** After the last message of its topic. */
  readonly stop: number | null;
}

interface OfGroup {
  readonly group_id: number;
}

const ofGroup = ({ group_id }: OfGroup): number => group_id;
const NO_ROOM = { messages: 0, bytes: 0 };

function together(leases: readonly Asked[]): Wanted[] {
  const byGroup = Map.groupBy(leases, groupKey);
  return [...byGroup.values()].map((asked) => ({
    topic: asked[0]!.topic,
    group: asked[0]!.group,
    messages: asked.reduce((sum, { messagesMax }) => sum + messagesMax, 0),
  }));
}

/** Reads further when all messages read so far are delayed: there may be many. */
export async function loadFurther(
  tx: Tx,
  { tenant, now, topic }: When & { readonly topic: string },
  group: OpenGroup,
): Promise<void> {
  group.fresh = await tx<Fresh[]>`
    select seq, 0::bigint as count, bytes, available_at from queue_messages
    where ${fromNumber(tx, { tenant, topic, from: group.next })} and expires_at > ${now}
    ${byNumber(tx)} limit ${FURTHER_LIMIT}
  `;
  group.isAllFresh = group.fresh.length < FURTHER_LIMIT;
}

/**
 * Messages of a topic in order of their numbers. Row comparison and order force the right index; measured:
 * 0.07 ms instead of 55 beside 400,000 messages of a busy topic.
 */
export const byNumber = (sql: Sql | Tx) => sql`order by topic, tenant, seq`;

export const lastFirst = (sql: Sql | Tx) => sql`order by topic desc, tenant desc, seq desc`;

type Fragment = ReturnType<typeof byNumber>;

interface From {
  readonly tenant: string;
  readonly topic: string | Fragment;
  readonly from: number | Fragment;
}

export const fromNumber = (sql: Sql | Tx, { tenant, topic, from }: From) => sql`
  (topic, tenant, seq) >= (${topic}, ${tenant}, ${from})
    and (topic, tenant, seq) <= (${topic}, ${tenant}, 9223372036854775807)
`;
