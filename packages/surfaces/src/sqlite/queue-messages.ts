/** Messages of the embedded queues: publishing, and dead letters. */
import { deadLetterOf } from '../capabilities/queue/dead-letter.ts';
import {
  type MessageRow,
  type MessageTexts,
  messageBytes,
  type NewDeadLetter,
} from '../capabilities/queue/queue-store.ts';
import { tenantFull } from '../capabilities/queue/refusals.ts';
import type { QueueBounds, QueueDraft } from '../ports/queue.ts';
import { type Sql, usedBytes } from './statements.ts';

/** Exported to test its query plan. */
export const DROP_EXPIRED = `
  delete from queue_messages where seq in
    (select seq from queue_messages where tenant = ? and expires_at <= ? order by expires_at limit 500)
`;

/**
 * Messages that all groups of a topic have settled, oldest first. The index hint avoids a full scan.
 * Exported to test its query plan.
 */
export const DROP_CONSUMED = `
  delete from queue_messages where seq in (
    select m.seq
    from (select topic, min(next_seq) as done from queue_groups where tenant = ? group by topic) t
    cross join queue_messages m indexed by queue_messages_by_topic
      on m.tenant = ? and m.topic = t.topic and m.seq < t.done
    where not exists (select 1 from queue_deliveries d where d.seq = m.seq)
    limit 500
  )
`;

interface Arrival {
  readonly tenant: string;
  readonly now: number;
  readonly messageId: string;
  readonly bounds: QueueBounds;
}

export function publish(
  sql: Sql,
  full: FullTenants,
  { topic, payload, headers, delayMs }: QueueDraft,
  arrival: Arrival,
): { messageId: string } {
  const texts = { topic, payload: JSON.stringify(payload), headers: JSON.stringify(headers) };
  makeRoom(sql, full, messageBytes(texts), arrival);
  add(sql, texts, arrival, delayMs);
  return { messageId: arrival.messageId };
}

/** Never refused: the message already counts. */
export function addDeadLetter(
  sql: Sql,
  { seq, ...about }: NewDeadLetter,
  arrival: Omit<Arrival, 'messageId'>,
): void {
  const original = sql.get<MessageRow>`
    select message_id, payload, headers from queue_messages where seq = ${seq}
  `;
  const { messageId, ...texts } = deadLetterOf(about, original!);
  add(sql, texts, { ...arrival, messageId }, 0);
}

function add(
  sql: Sql,
  texts: MessageTexts,
  { tenant, now, messageId, bounds }: Arrival,
  delayMs: number,
): void {
  const { topic, payload, headers } = texts;
  const availableAt = now + delayMs;
  sql.run`
    insert into queue_messages (tenant, topic, message_id, payload, headers, bytes, available_at, expires_at)
    values (${tenant}, ${topic}, ${messageId}, ${payload}, ${headers}, ${messageBytes(texts)}, ${availableAt},
      ${availableAt + bounds.retentionMs})
  `;
}

/** See I5 of the port. */
function makeRoom(
  sql: Sql,
  full: FullTenants,
  bytes: number,
  { tenant, now, bounds: { quotaBytes } }: Arrival,
): void {
  const room = quotaBytes - bytes;
  const fits = (): boolean => usedBytes(sql, 'queue', tenant) <= room;
  if (fits()) return;
  if (!full.isKnown(tenant, { now, room })) {
    while (!fits() && sql.prepare(DROP_EXPIRED).run(tenant, now).changes > 0);
    while (!fits() && sql.prepare(DROP_CONSUMED).run(tenant, tenant).changes > 0);
    if (fits()) return;
    // The refusal rolls back these deletions, and the space may suffice for a smaller message
    const until = sql.number`select min(expires_at) from queue_messages where tenant = ${tenant}` || now;
    full.remember(tenant, { bytes: usedBytes(sql, 'queue', tenant), until }, now);
  }
  throw tenantFull(quotaBytes);
}

/** The plus keeps SQLite from scanning all messages of the tenant. Exported to test its query plan. */
export const MESSAGES = `
  select seq, message_id, payload, headers from queue_messages
  where +tenant = ? and seq in (select value from json_each(?))
`;

/** The messages with these numbers that still exist. */
export const keptMessages = (sql: Sql, tenant: string, seqs: readonly number[]): MessageRow[] =>
  sql.select(MESSAGES, [tenant, JSON.stringify(seqs)]);

/** The usage of a tenant after deleting everything that can be deleted. */
interface Floor {
  readonly bytes: number;
  /** When the first remaining message expires. */
  readonly until: number;
}

const TENANTS_MAX = 1_000;
/** Limited, because a failed transaction rolls back the deletions that were counted. */
const REMEMBERED_MS = 60_000;

export class FullTenants {
  readonly #floors = new Map<string, Floor>();

  /** Whether it is known that no space can be freed. */
  isKnown(tenant: string, { now, room }: { readonly now: number; readonly room: number }): boolean {
    const floor = this.#floors.get(tenant);
    return floor !== undefined && now < floor.until && floor.bytes > room;
  }

  remember(tenant: string, { bytes, until }: Floor, now: number): void {
    if (this.#floors.size >= TENANTS_MAX) this.#floors.clear();
    this.#floors.set(tenant, { bytes, until: Math.min(until, now + REMEMBERED_MS) });
  }

  forget(tenant: string): void {
    this.#floors.delete(tenant);
  }

  forgetAll(): void {
    this.#floors.clear();
  }
}
