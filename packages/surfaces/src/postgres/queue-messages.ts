/** Messages of the queues in PostgreSQL: how they come in, and go to the dead letters. */
import type { QueueBounds, QueueDraft } from '../ports/queue.ts';
import { deadLetterId, deadLetterPayload, deadLetterTopicOf } from '../queue/dead-letter.ts';
import { tenantFull } from '../queue/errors.ts';
import { type Burial, MESSAGE_OVERHEAD_BYTES } from '../queue/queue-store.ts';
import type { Tx } from './connection.ts';

export const QUEUE_CHANNEL = 'gantry_queue';

export interface Facts {
  readonly tenant: string;
  readonly now: number;
  readonly bounds: QueueBounds;
}

interface NewRow {
  readonly topic: string;
  readonly messageId: string;
  readonly payload: string;
  readonly headers: string;
  readonly delayMs: number;
}

export async function publish(tx: Tx, draft: QueueDraft, facts: Facts & { readonly messageId: string }) {
  const { topic, delayMs } = draft;
  const { messageId } = facts;
  const texts = { payload: JSON.stringify(draft.payload), headers: JSON.stringify(draft.headers) };
  await add(tx, { topic, messageId, ...texts, delayMs }, facts);
  await stayInQuota(tx, facts);
  return { messageId };
}

/** Never refused: the message was there already. */
export async function bury(tx: Tx, { seq, ...about }: Burial, facts: Facts): Promise<void> {
  const [found] = await tx<{ message_id: string; payload: string; headers: string }[]>`
    select message_id, payload, headers from queue_messages where seq = ${seq}
  `;
  if (!found) return;
  const { message_id: messageId, headers } = found;
  const letter = deadLetterPayload({ ...about, messageId, payload: JSON.parse(found.payload) });
  const row = { topic: deadLetterTopicOf(about.topic), messageId: deadLetterId(messageId, about.group) };
  await add(tx, { ...row, payload: JSON.stringify(letter), headers, delayMs: 0 }, facts);
}

/** Those who wait hear of it if and when it is committed. */
export async function announce(tx: Tx, tenant: string, topic: string): Promise<void> {
  await tx`select pg_notify(${QUEUE_CHANNEL}, ${JSON.stringify([tenant, topic])})`;
}

async function add(tx: Tx, row: NewRow, { tenant, now, bounds }: Facts): Promise<void> {
  const { topic, messageId, payload, headers } = row;
  const bytes = MESSAGE_OVERHEAD_BYTES + [topic, payload, headers].reduce(addBytes, 0);
  const availableAt = now + row.delayMs;
  await tx`
    insert into queue_topics as t values (${tenant}, ${topic}, ${bytes})
    on conflict (tenant, topic) do update set bytes = t.bytes + excluded.bytes
  `;
  await tx`
    insert into queue_messages (tenant, topic, message_id, payload, headers, bytes, available_at, expires_at)
    values (${tenant}, ${topic}, ${messageId}, ${payload}, ${headers}, ${bytes}, ${availableAt},
      ${availableAt + bounds.retentionMs})
  `;
  await announce(tx, tenant, topic);
}

const addBytes = (sum: number, text: string): number => sum + Buffer.byteLength(text);

/** I5 of the port. What is thrown undoes the publish. */
async function stayInQuota(tx: Tx, { tenant, now, bounds: { quotaBytes } }: Facts): Promise<void> {
  const fits = async (): Promise<boolean> => {
    const [used] = await tx<{ bytes: number }[]>`
      select coalesce(sum(bytes), 0)::bigint as bytes from queue_topics where tenant = ${tenant}
    `;
    return (used?.bytes ?? 0) <= quotaBytes;
  };
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

/** Oldest first, what every group of its topic is done with. Topics without groups keep all. */
async function dropConsumed(tx: Tx, tenant: string): Promise<number> {
  const { count } = await tx`
    delete from queue_messages where seq in (
      select m.seq
      from (select topic, min(next_seq) as done from queue_groups where tenant = ${tenant} group by topic) t
      join queue_messages m on m.tenant = ${tenant} and m.topic = t.topic and m.seq < t.done
      where not exists (select 1 from queue_deliveries d where d.seq = m.seq)
      limit 500
    )
  `;
  return count;
}
