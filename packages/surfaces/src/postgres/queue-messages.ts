/** Messages of the queues in PostgreSQL: publishing, and dead letters. */
import type { Statement } from '@gantry/postgres';
import { deadLetterOf } from '../capabilities/queue/dead-letter.ts';
import {
  type MessageRow,
  type MessageTexts,
  messageBytes,
  type NewDeadLetter,
} from '../capabilities/queue/queue-store.ts';
import { tenantFull } from '../capabilities/queue/refusals.ts';
import type { QueueDraft } from '../ports/queue.ts';
import type { Tx } from './connection.ts';
import { byNumber } from './queue-groups.ts';
import type { QueueAct, QueueTurn } from './queue-turn.ts';
import { Alone, column } from './together.ts';
import { usedBytes } from './usage.ts';

export const QUEUE_CHANNEL = 'gantry_queue';

export interface NewMessage extends MessageTexts {
  readonly messageId: string;
  readonly bytes: number;
  readonly availableAt: number;
  readonly expiresAt: number;
}

const sized = (message: Omit<NewMessage, 'bytes'>): NewMessage => ({
  ...message,
  bytes: messageBytes(message),
});

interface Publishing {
  readonly messageId: string;
  readonly now: number;
  readonly retentionMs: number;
}

export function publish(draft: QueueDraft, { messageId, now, retentionMs }: Publishing) {
  const texts = { payload: JSON.stringify(draft.payload), headers: JSON.stringify(draft.headers) };
  const availableAt = now + draft.delayMs;
  const times = { availableAt, expiresAt: availableAt + retentionMs };
  const message = sized({ topic: draft.topic, messageId, ...texts, ...times });
  return {
    now,
    bytes: message.bytes,
    wants: { kind: 'room' } as const,
    decide(turn: QueueTurn): { messageId: string } {
      if (!turn.fits(message.bytes)) {
        if (!turn.isAlone) throw new Alone();
        turn.tryOut();
      }
      turn.add(message);
      return { messageId };
    },
  } satisfies QueueAct;
}

/** Never refused: the message already counts. */
export async function addDeadLetter(
  tx: Tx,
  turn: QueueTurn,
  { seq, ...about }: NewDeadLetter,
  now: number,
): Promise<void> {
  const [found] = await tx<MessageRow[]>`
    select seq, message_id, payload, headers from queue_messages where seq = ${seq}
  `;
  if (!found) return;
  const times = { availableAt: now, expiresAt: now + turn.bounds.retentionMs };
  turn.add(sized({ ...deadLetterOf(about, found), ...times }));
}

export const announce = (tx: Tx, tenant: string, topics: readonly string[]): Statement => tx`
  select pg_notify(${QUEUE_CHANNEL}, notice)
  from unnest(${topics.map((topic) => JSON.stringify([tenant, topic]))}::text[]) as notice
`;

/** Numbered in order. Turns are serialized, so messages also become visible in that order. */
export function addMessages(tx: Tx, tenant: string, added: readonly NewMessage[]): Statement[] {
  const [topics, bytes] = [column(added, 'topic'), column(added, 'bytes')];
  return [
    tx`
      insert into queue_topics as t (tenant, topic, bytes)
      select ${tenant}, topic, sum(bytes) from unnest(${topics}::text[], ${bytes}::bigint[]) as added (topic, bytes)
      group by topic
      on conflict (tenant, topic) do update set bytes = t.bytes + excluded.bytes
    `,
    tx`
      insert into queue_messages (tenant, topic, message_id, payload, headers, bytes, available_at, expires_at)
      select ${tenant}, topic, message_id, payload, headers, bytes, available_at, expires_at
      from unnest(${topics}::text[], ${column(added, 'messageId')}::text[], ${column(added, 'payload')}::text[],
        ${column(added, 'headers')}::text[], ${bytes}::bigint[], ${column(added, 'availableAt')}::bigint[],
        ${column(added, 'expiresAt')}::bigint[]) with ordinality
        as added (topic, message_id, payload, headers, bytes, available_at, expires_at, position)
      order by position
    `,
  ];
}

export const usedByMessages = (tx: Tx, tenant: string): Promise<number> =>
  usedBytes(tx, 'queue_messages', tenant);

/** See I5 of the port. An error rolls back the publish. */
export async function stayInQuota(tx: Tx, { tenant, now, bounds: { quotaBytes } }: QueueTurn): Promise<void> {
  const fits = async (): Promise<boolean> => (await usedByMessages(tx, tenant)) <= quotaBytes;
  if (await fits()) return;
  while ((await dropExpired(tx, tenant, now)) > 0) if (await fits()) return;
  while (!(await fits())) if ((await dropConsumed(tx, tenant)) === 0) throw tenantFull(quotaBytes);
}

async function dropExpired(tx: Tx, tenant: string, now: number): Promise<number> {
  const { count } = await tx`
    delete from queue_messages where seq in
      (select seq from queue_messages where tenant = ${tenant} and expires_at <= ${now} order by expires_at limit 500)
  `;
  return count;
}

/** Deletes the oldest messages that every group of their topic has settled. Topics without groups keep all. */
async function dropConsumed(tx: Tx, tenant: string): Promise<number> {
  const { count } = await tx`delete from queue_messages where seq in (${consumed(tx, tenant)})`;
  return count;
}

/**
 * Per topic, with one lookup per message: a join would read all messages and deliveries.
 * Exported to test its query plan.
 */
export const consumed = (tx: Tx, tenant: string) => tx`
  select done.seq
  from (select topic, min(next_seq) as stop from queue_groups where tenant = ${tenant} group by topic) as t
  cross join lateral (
    select seq from queue_messages m
    where (topic, tenant, seq) >= (t.topic, ${tenant}, 0) and (topic, tenant, seq) < (t.topic, ${tenant}, t.stop)
      and (select d.seq from queue_deliveries d where d.seq = m.seq limit 1) is null
    ${byNumber(tx)} limit 500
  ) as done
  limit 500
`;
