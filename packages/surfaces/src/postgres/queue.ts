/** Queues in PostgreSQL, for several processes: NOTIFY wakes waiting consumers. */
import { Arrivals } from '../capabilities/queue/arrivals.ts';
import { readyAtOf, UNSEEN_LOOKED, type Unseen } from '../capabilities/queue/choose.ts';
import { databaseQueue } from '../capabilities/queue/database-queue.ts';
import {
  type Logged,
  loggedOf,
  type MessageRow,
  type QueueStore,
  READ_LIMIT,
  SWEEP_BATCH,
} from '../capabilities/queue/queue-store.ts';
import { openedWhenNeeded } from '../opened-when-needed.ts';
import {
  type BoundsOf,
  boundsOf,
  type ConsumerGroup,
  type QueueDeps,
  type QueuePort,
} from '../ports/queue.ts';
import type { PostgresDatabase, Sql, Tx } from './connection.ts';
import { lease, makeWay, settle } from './queue-deliveries.ts';
import { byNumber, fromNumber, lastFirst } from './queue-groups.ts';
import { publish, QUEUE_CHANNEL } from './queue-messages.ts';
import { queueArea } from './queue-turn.ts';
import { takeTurn } from './usage.ts';

export function postgresQueue(database: PostgresDatabase, deps: QueueDeps): QueuePort {
  const arrivals = new Arrivals();
  const store = queueStore(database, boundsOf(deps), arrivals);
  return databaseQueue({ store, arrivals, now: deps.now, report: deps.report });
}

function hear(arrivals: Arrivals, notice: string): void {
  const [tenant, topic]: unknown[] = JSON.parse(notice);
  if (typeof tenant === 'string' && typeof topic === 'string') arrivals.ring(tenant, topic);
}

function queueStore(database: PostgresDatabase, bounds: BoundsOf, arrivals: Arrivals): QueueStore {
  // Opened by the first waiting consumer; earlier messages are found by a query
  const ears = openedWhenNeeded({
    open: () =>
      database.listen(
        QUEUE_CHANNEL,
        (notice) => hear(arrivals, notice),
        () => arrivals.ringAll(),
      ),
  });
  const write = database.together(queueArea(bounds));
  const { retentionMs } = bounds('');
  return {
    publish: (draft, call) =>
      write(call, publish(draft, { messageId: call.invocation.id, now: call.now, retentionMs })),
    lease: (wanted, call) => write(call, lease(wanted, call)),
    makeWay: (consumers, { tenant, now }) => write({ tenant, now }, makeWay(consumers, { now })),
    messages: (seqs, tenant) => database.read((sql) => messages(sql, seqs, tenant)),
    settle: (handle, outcome, call) => write(call, settle(handle, outcome, call)),
    async readyAt(consumers, tenant, now) {
      await ears.get();
      return database.read((sql) => readyAt(sql, consumers, tenant, now));
    },
    async read(topic, after, tenant, now) {
      await ears.get();
      return database.read((sql) => readLog(sql, { topic, after, tenant, now }));
    },
    lastSeq: (topic, tenant) => database.read((sql) => lastSeq(sql, topic, tenant)),
    sweep: (now) => database.upkeep((tx) => sweep(tx, now)),
    health: () => database.health(),
  };
}

async function readyAt(
  sql: Sql,
  { topic, group }: ConsumerGroup,
  tenant: string,
  now: number,
): Promise<number | null> {
  const [found] = await sql<[Unseen & { readonly due: number | null }]>`
    with g as (
      select id, next_seq from queue_groups
      where tenant = ${tenant} and topic = ${topic} and name = ${group}
    )
    select count(*) as count, min(available_at) filter (where expires_at > ${now}) as "firstAt",
      (
        select d.visible_at from queue_deliveries d join queue_messages m on m.seq = d.seq
        where d.group_id = (select id from g) and m.expires_at > ${now} order by d.visible_at limit 1
      ) as due
    from (
      select available_at, expires_at from queue_messages
      where ${fromNumber(sql, { tenant, topic, from: sql`coalesce((select next_seq from g), 0)` })}
      ${byNumber(sql)} limit ${UNSEEN_LOOKED}
    ) as unseen
  `;
  return readyAtOf(found, found.due, now);
}

interface Range {
  readonly topic: string;
  readonly after: number;
  readonly tenant: string;
  readonly now: number;
}

async function readLog(sql: Sql, { topic, after, tenant, now }: Range): Promise<Logged[]> {
  const rows = await sql<MessageRow[]>`
    select seq, message_id, payload, headers from queue_messages
    where ${fromNumber(sql, { tenant, topic, from: after + 1 })} and expires_at > ${now}
    ${byNumber(sql)} limit ${READ_LIMIT}
  `;
  return rows.map(loggedOf);
}

async function messages(sql: Sql, seqs: readonly number[], tenant: string): Promise<Logged[]> {
  const rows = await sql<MessageRow[]>`
    select seq, message_id, payload, headers from queue_messages
    where tenant = ${tenant}
      and seq = any (${seqs}::bigint[])
  `;
  return rows.map(loggedOf);
}

async function lastSeq(sql: Sql, topic: string, tenant: string): Promise<number> {
  const [last] = await sql<{ seq: number }[]>`
    select seq from queue_messages where ${fromNumber(sql, { tenant, topic, from: 0 })} ${lastFirst(sql)} limit 1
  `;
  return last?.seq ?? 0;
}

/**
 * Deletes expired messages, then topics and groups without messages.
 * Tenants are locked in sorted order, which avoids deadlocks.
 */
async function sweep(tx: Tx, now: number): Promise<number> {
  const expired = await tx<{ seq: number; tenant: string }[]>`
    select seq, tenant from queue_messages where expires_at <= ${now} order by expires_at limit ${SWEEP_BATCH}
  `;
  const isLast = expired.length < SWEEP_BATCH;
  const empty = isLast ? await tx<{ tenant: string }[]>`select tenant from queue_topics where bytes = 0` : [];
  const tenants = [...new Set([...expired, ...empty].map(({ tenant }) => tenant))].sort();
  await Promise.all(tenants.map((tenant) => takeTurn(tx, 'queue', tenant)));
  const seqs = expired.map(({ seq }) => seq);
  const { count } = await tx`delete from queue_messages where seq = any (${seqs}::bigint[])`;
  if (isLast) await forgetTopics(tx, tenants);
  return isLast ? count : SWEEP_BATCH;
}

const forgetTopics = (tx: Tx, tenants: readonly string[]) => tx`
  with gone as (
    delete from queue_topics t where tenant = any (${tenants}::text[]) and bytes = 0 and not exists
      (select 1 from queue_messages m where m.tenant = t.tenant and m.topic = t.topic)
    returning tenant, topic
  )
  delete from queue_groups g using gone where g.tenant = gone.tenant and g.topic = gone.topic
`;
