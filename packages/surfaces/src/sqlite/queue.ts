/** Queues in the embedded database: the area (SQL, in the threads) and what the port is made of. */
import type { DatabaseSync } from 'node:sqlite';
import { readyAtOf, UNSEEN_LOOKED, type Unseen } from '../capabilities/queue/choose.ts';
import {
  type Logged,
  type QueueCall,
  type QueueStore,
  READ_LIMIT,
  SWEEP_BATCH,
} from '../capabilities/queue/queue-store.ts';
import type { BoundsOf, ConsumerGroup } from '../ports/queue.ts';
import type { EmbeddedDatabase } from './database.ts';
import { deliveryWrites } from './queue-deliveries.ts';
import { FullTenants, keptMessages, keptOf, loggedOf, messageWrites } from './queue-messages.ts';
import { defineArea, LIMIT } from './statements.ts';

const READ = `
  select seq, message_id, payload, headers from queue_messages
  where tenant = ? and topic = ? and seq > ? and expires_at > ? order by seq limit ${READ_LIMIT}
`;

export const queueArea = defineArea({
  reads: (database) => ({ readyAt: readyAt(database), ...logReads(database) }),
  writes: (database) => {
    const full = new FullTenants();
    const messages = messageWrites(database, full);
    const deliveries = deliveryWrites(database, { addDeadLetter: messages.addDeadLetter, full });
    return { publish: messages.publish, sweep: sweeping(database, full), ...deliveries };
  },
});

/** Messages past their time, then groups of topics that have none. */
function sweeping(database: DatabaseSync, full: FullTenants) {
  const messages = database.prepare(`
    delete from queue_messages where seq in
      (select seq from queue_messages where expires_at <= ? order by expires_at ${LIMIT})
  `);
  const groups = database.prepare(`
    delete from queue_groups where not exists
      (select 1 from queue_messages m where m.tenant = queue_groups.tenant and m.topic = queue_groups.topic)
  `);
  return (now: number, limit: number): number => {
    const deleted = Number(messages.run(now, limit).changes);
    if (deleted > 0) full.forgetAll();
    if (deleted < limit) groups.run();
    return deleted;
  };
}

function logReads(database: DatabaseSync) {
  const read = database.prepare(READ);
  const messages = keptMessages(database);
  const last = database.prepare('select max(seq) as seq from queue_messages where tenant = ? and topic = ?');
  return {
    read: (tenant: string, topic: string, after: number, now: number): Logged[] =>
      keptOf(read.all(tenant, topic, after, now)).map(loggedOf),
    messages: (tenant: string, seqs: readonly number[]): Logged[] => messages(tenant, seqs).map(loggedOf),
    lastSeq: (tenant: string, topic: string): number => Number(last.get(tenant, topic)?.seq ?? 0),
  };
}

function readyAt(database: DatabaseSync) {
  const group = database.prepare(
    'select id, next_seq from queue_groups where tenant = ? and topic = ? and name = ?',
  );
  const unseen = database.prepare(`
    select count(*) as count, min(available_at) filter (where expires_at > ?) as firstAt from (
      select available_at, expires_at from queue_messages
      where tenant = ? and topic = ? and seq >= ? order by seq limit ${UNSEEN_LOOKED}
    )
  `);
  const due = database.prepare(`
    select d.visible_at as at from queue_deliveries d join queue_messages m on m.seq = d.seq
    where d.group_id = ? and m.expires_at > ? order by d.visible_at limit 1
  `);
  return (tenant: string, consumers: ConsumerGroup, now: number): number | null => {
    const found = group.get(tenant, consumers.topic, consumers.group);
    const from = Number(found?.next_seq ?? 0);
    const dueAt = found ? due.get(Number(found.id), now)?.at : null;
    return readyAtOf(
      unseenOf(unseen.get(now, tenant, consumers.topic, from)),
      dueAt == null ? null : Number(dueAt),
      now,
    );
  };
}

const unseenOf = (row: unknown): Unseen => row as Unseen;

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
