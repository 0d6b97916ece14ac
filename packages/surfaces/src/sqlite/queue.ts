/** Queues in the embedded database: the area (SQL, in the threads) and the port. */
import { readyAtOf, UNSEEN_LOOKED, type Unseen } from '../capabilities/queue/choose.ts';
import {
  type Logged,
  loggedOf,
  type MessageRow,
  type QueueCall,
  type QueueStore,
  READ_LIMIT,
  SWEEP_BATCH,
} from '../capabilities/queue/queue-store.ts';
import type { BoundsOf, ConsumerGroup, QueueDraft } from '../ports/queue.ts';
import type { EmbeddedDatabase } from './database.ts';
import { deliveryWrites, type Facts, findGroup, lastSeq } from './queue-deliveries.ts';
import { FullTenants, keptMessages, publish } from './queue-messages.ts';
import { defineArea, type Sql } from './statements.ts';

export const queueArea = defineArea({
  reads: (sql) => ({
    readyAt: (tenant: string, consumers: ConsumerGroup, now: number) => readyAt(sql, tenant, consumers, now),
    read: (tenant: string, topic: string, after: number, now: number): Logged[] =>
      sql.all<MessageRow>`
        select seq, message_id, payload, headers from queue_messages
        where tenant = ${tenant} and topic = ${topic} and seq > ${after} and expires_at > ${now}
        order by seq limit ${READ_LIMIT} + 0
      `.map(loggedOf),
    messages: (tenant: string, seqs: readonly number[]): Logged[] =>
      keptMessages(sql, tenant, seqs).map(loggedOf),
    lastSeq: (tenant: string, topic: string): number => lastSeq(sql, tenant, topic),
  }),
  writes: (sql) => {
    const full = new FullTenants();
    return {
      publish: (draft: QueueDraft, facts: Facts & { readonly messageId: string }) =>
        publish(sql, full, draft, facts),
      ...deliveryWrites(sql, full),
      /** Deletes expired messages, then groups of topics without messages. */
      sweep(now: number, limit: number): number {
        const deleted = sql.run`
          delete from queue_messages where seq in
            (select seq from queue_messages where expires_at <= ${now} order by expires_at limit ${limit} + 0)
        `;
        if (deleted > 0) full.forgetAll();
        if (deleted < limit)
          sql.run`
            delete from queue_groups where not exists
              (select 1 from queue_messages m where m.tenant = queue_groups.tenant and m.topic = queue_groups.topic)
          `;
        return deleted;
      },
    };
  },
});

function readyAt(sql: Sql, tenant: string, consumers: ConsumerGroup, now: number): number | null {
  const group = findGroup(sql, tenant, consumers);
  const due =
    group &&
    sql.get<{ at: number }>`
      select d.visible_at as at from queue_deliveries d join queue_messages m on m.seq = d.seq
      where d.group_id = ${group.id} and m.expires_at > ${now} order by d.visible_at limit 1
    `;
  const unseen = sql.get<Unseen>`
    select count(*) as count, min(available_at) filter (where expires_at > ${now}) as firstAt from (
      select available_at, expires_at from queue_messages
      where tenant = ${tenant} and topic = ${consumers.topic} and seq >= ${group?.next_seq ?? 0}
      order by seq limit ${UNSEEN_LOOKED} + 0
    )
  `;
  return readyAtOf(unseen!, due?.at ?? null, now);
}

export function embeddedQueueStore(database: EmbeddedDatabase, boundsOf: BoundsOf): QueueStore {
  const factsOf = (call: QueueCall) => ({
    tenant: call.tenant,
    now: call.now,
    bounds: boundsOf(call.tenant),
  });
  return {
    publish: (draft, call) =>
      database.write('queue', 'publish', call, draft, { ...factsOf(call), messageId: call.invocation.id }),
    async lease(lease, call) {
      const { messages, ...granted } = await ('invocation' in call
        ? database.write('queue', 'lease', call, lease, factsOf(call))
        : database.upkeep('queue', 'lease', lease, factsOf(call)));
      return messages ? { ...granted, messages: messages.map(loggedOf) } : granted;
    },
    makeWay: ({ topic, group, deliveriesMax }, call) =>
      database.upkeep('queue', 'makeWay', { topic, group, deliveriesMax }, factsOf(call)),
    messages: (seqs, tenant) => database.read('queue', 'messages', tenant, seqs),
    settle: (handle, outcome, call) =>
      'invocation' in call
        ? database.write('queue', 'settle', call, handle, outcome, factsOf(call))
        : database.upkeep('queue', 'settle', handle, outcome, factsOf(call)),
    readyAt: (consumers, tenant, now) => database.read('queue', 'readyAt', tenant, consumers, now),
    read: (topic, after, tenant, now) => database.read('queue', 'read', tenant, topic, after, now),
    lastSeq: (topic, tenant) => database.read('queue', 'lastSeq', tenant, topic),
    sweep: (now) => database.upkeep('queue', 'sweep', now, SWEEP_BATCH),
    health: async () => void (await database.read('queue', 'lastSeq', '', '')),
  };
}
