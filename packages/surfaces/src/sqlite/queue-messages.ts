/** Messages of the embedded queues: how they come in, and go to the dead letters. */
import type { DatabaseSync } from 'node:sqlite';
import { deadLetterId, deadLetterPayload, deadLetterTopicOf } from '../capabilities/queue/dead-letter.ts';
import {
  type Logged,
  MESSAGE_OVERHEAD_BYTES,
  type NewDeadLetter,
  TENANT_FULL,
} from '../capabilities/queue/queue-store.ts';
import type { QueueBounds, QueueDraft } from '../ports/queue.ts';
import { Refusal } from '../refusal.ts';
import { bytesOf } from '../text.ts';

const INSERT = `
  insert into queue_messages (tenant, topic, message_id, payload, headers, bytes, available_at, expires_at)
  values (?, ?, ?, ?, ?, ?, ?, ?)
`;

/** Exported for its plan. */
export const DROP_EXPIRED = `
  delete from queue_messages where seq in
    (select seq from queue_messages where tenant = ? and expires_at <= ? order by expires_at limit 500)
`;

/** What all groups of a topic are done with, oldest first. The index hint avoids a full scan. Exported for its plan. */
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

interface Texts {
  readonly topic: string;
  readonly payload: string;
  readonly headers: string;
}

export type MessageWrites = ReturnType<typeof messageWrites>;

export function messageWrites(database: DatabaseSync, full: FullTenants) {
  const insert = database.prepare(INSERT);
  const original = database.prepare('select message_id, payload, headers from queue_messages where seq = ?');
  const makeRoom = makingRoom(database, full);
  const add = (
    { topic, payload, headers }: Texts,
    { tenant, now, messageId, bounds }: Arrival,
    delayMs: number,
  ) => {
    const bytes = sizeOf({ topic, payload, headers });
    const times = [now + delayMs, now + delayMs + bounds.retentionMs] as const;
    insert.run(tenant, topic, messageId, payload, headers, bytes, ...times);
  };
  return {
    publish({ topic, payload, headers, delayMs }: QueueDraft, arrival: Arrival): { messageId: string } {
      const texts = { topic, payload: JSON.stringify(payload), headers: JSON.stringify(headers) };
      makeRoom(sizeOf(texts), arrival);
      add(texts, arrival, delayMs);
      return { messageId: arrival.messageId };
    },
    /** Never refused: the message was there already. */
    addDeadLetter({ seq, ...about }: NewDeadLetter, arrival: Omit<Arrival, 'messageId'>): void {
      const found = original.get(seq);
      const [messageId, headers] = [String(found?.message_id), String(found?.headers)];
      const letter = deadLetterPayload({ ...about, messageId, payload: JSON.parse(String(found?.payload)) });
      const texts = { topic: deadLetterTopicOf(about.topic), payload: JSON.stringify(letter), headers };
      add(texts, { ...arrival, messageId: deadLetterId(messageId, about.group) }, 0);
    },
  };
}

const sizeOf = ({ topic, payload, headers }: Texts): number =>
  MESSAGE_OVERHEAD_BYTES + bytesOf(topic) + bytesOf(payload) + bytesOf(headers);

/** I5 of the port. */
function makingRoom(database: DatabaseSync, full: FullTenants) {
  const used = database.prepare(`select bytes from usage where area = 'queue' and tenant = ?`);
  const dropExpired = database.prepare(DROP_EXPIRED);
  const firstExpiry = database.prepare('select min(expires_at) as at from queue_messages where tenant = ?');
  const dropConsumed = database.prepare(DROP_CONSUMED);
  return (bytes: number, { tenant, now, bounds: { quotaBytes } }: Arrival): void => {
    const room = quotaBytes - bytes;
    const usedBytes = (): number => Number(used.get(tenant)?.bytes ?? 0);
    const fits = (): boolean => usedBytes() <= room;
    if (fits()) return;
    if (!full.isKnown(tenant, { now, room })) {
      while (!fits() && dropExpired.run(tenant, now).changes > 0);
      while (!fits() && dropConsumed.run(tenant, tenant).changes > 0);
      if (fits()) return;
      // What was dropped is there again after the refusal, and may be room enough for less
      const until = Number(firstExpiry.get(tenant)?.at ?? now);
      full.remember(tenant, { bytes: usedBytes(), until }, now);
    }
    throw new Refusal('queue_backend_unavailable', {
      message: TENANT_FULL,
      details: { quotaBytes },
    });
  };
}

export interface Kept {
  readonly seq: number;
  readonly message_id: string;
  readonly payload: string;
  readonly headers: string;
}

/** The plus keeps SQLite from looking through all messages of the tenant. Exported for its plan. */
export const MESSAGES = `
  select seq, message_id, payload, headers from queue_messages
  where +tenant = ? and seq in (select value from json_each(?))
`;

/** By their numbers, those that are still there. */
export function keptMessages(database: DatabaseSync) {
  const find = database.prepare(MESSAGES);
  return (tenant: string, seqs: readonly number[]): Kept[] => keptOf(find.all(tenant, JSON.stringify(seqs)));
}

export const keptOf = (rows: unknown): Kept[] => rows as Kept[];

export const loggedOf = ({ seq, message_id: messageId, payload, headers }: Kept): Logged => ({
  seq,
  messageId,
  payload: JSON.parse(payload),
  headers: JSON.parse(headers),
});

/** What a tenant has when all that can go is gone. */
interface Floor {
  readonly bytes: number;
  /** When the first of that expires. */
  readonly until: number;
}

const TENANTS_MAX = 1_000;
/** A transaction that fails takes back what was counted. */
const REMEMBERED_MS = 60_000;

export class FullTenants {
  readonly #floors = new Map<string, Floor>();

  /** Whether it is of no use to look for room. */
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
