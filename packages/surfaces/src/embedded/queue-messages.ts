/** Messages of the embedded queues: how they come in, and go to the dead letters. */
import type { DatabaseSync } from 'node:sqlite';
import type { QueueBounds, QueueDraft } from '../ports/queue.ts';
import {
  type DeadLetterFacts,
  deadLetterId,
  deadLetterPayload,
  deadLetterTopicOf,
} from '../queue/dead-letter.ts';
import { MESSAGE_OVERHEAD_BYTES, TENANT_FULL } from '../queue/queue-store.ts';
import { bytesOf } from './text.ts';
import { Refusal } from './wire.ts';

const INSERT = `
  insert into queue_messages (tenant, topic, message_id, payload, headers, bytes, available_at, expires_at)
  values (?, ?, ?, ?, ?, ?, ?, ?)
`;

/** Oldest first, what every group of its topic is done with. Topics without groups keep all. */
const DROP_CONSUMED = `
  delete from queue_messages where seq in (
    select m.seq
    from (select topic, min(next_seq) as done from queue_groups where tenant = ? group by topic) t
    join queue_messages m on m.tenant = ? and m.topic = t.topic and m.seq < t.done
    where not exists (select 1 from queue_deliveries d where d.seq = m.seq)
    limit 500
  )
`;

export interface Arrival {
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

export function messageWrites(database: DatabaseSync) {
  const insert = database.prepare(INSERT);
  const makeRoom = makingRoom(database);
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
    bury(facts: DeadLetterFacts, headers: string, arrival: Omit<Arrival, 'messageId'>): void {
      const payload = JSON.stringify(deadLetterPayload(facts));
      const messageId = deadLetterId(facts.messageId, facts.group);
      add({ topic: deadLetterTopicOf(facts.topic), payload, headers }, { ...arrival, messageId }, 0);
    },
  };
}

const sizeOf = ({ topic, payload, headers }: Texts): number =>
  MESSAGE_OVERHEAD_BYTES + bytesOf(topic) + bytesOf(payload) + bytesOf(headers);

/** I5 of the port. */
function makingRoom(database: DatabaseSync) {
  const used = database.prepare(`select bytes from usage where area = 'queue' and tenant = ?`);
  const dropExpired = database.prepare('delete from queue_messages where tenant = ? and expires_at <= ?');
  const dropConsumed = database.prepare(DROP_CONSUMED);
  return (bytes: number, { tenant, now, bounds: { quotaBytes } }: Arrival): void => {
    const fits = (): boolean => Number(used.get(tenant)?.bytes ?? 0) + bytes <= quotaBytes;
    if (fits()) return;
    dropExpired.run(tenant, now);
    while (!fits() && dropConsumed.run(tenant, tenant).changes > 0);
    if (fits()) return;
    throw new Refusal('queue_backend_unavailable', {
      message: TENANT_FULL,
      details: { quotaBytes },
    });
  };
}
