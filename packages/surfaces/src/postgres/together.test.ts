/** Calls that share transactions, of two processes' worth of connections to one database. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { OpenwopError } from '@gantry/protocol';
import fc from 'fast-check';
import postgres from 'postgres';
import type { QueueOutcome } from '../ports/queue.ts';
import { QUEUE_CONTRACT_BOUNDS } from '../ports/queue-user-contract.ts';
import { freshTenant, NOW, read, write } from '../testing/calls.ts';
import { type OpenedPostgres, openTestPostgres, postgresSkip } from '../testing/postgres.ts';
import { postgresCache } from './cache.ts';
import { openPostgresDatabase, type PostgresDatabase } from './connection.ts';
import { postgresKv } from './kv.ts';
import { postgresQueue } from './queue.ts';
import { sweepPostgres } from './sweep.ts';

const QUOTA = 8_192;
const NEVER = new AbortController().signal;

const portsOf = (database: PostgresDatabase) => ({
  database,
  kv: postgresKv(database, { quotaBytes: QUOTA }),
  cache: postgresCache(database, { capacityBytes: QUOTA }),
  queue: postgresQueue(database, { now: Date.now, report: () => {}, bounds: QUEUE_CONTRACT_BOUNDS }),
});
type Ports = ReturnType<typeof portsOf>;

const entry = (key: string, value: string, expiresAt: number | null = null) => ({
  namespace: '',
  key,
  value,
  expiresAt,
});

describe('calls that share transactions', { skip: postgresSkip }, () => {
  let opened: OpenedPostgres | null = null;
  let both: readonly Ports[] = [];
  before(async () => {
    opened = await openTestPostgres();
    both = [opened.database, openPostgresDatabase(opened)].map(portsOf);
  });
  after(async () => {
    await both[1]?.database.close();
    await opened?.close();
  });
  const ports = (index = 0): Ports => both[index] ?? assert.fail('not open');

  test('I3: one that is refused, by the port or by the server, fails alone', async () => {
    const tenant = freshTenant();
    const { kv } = ports();
    await kv.put(entry('text', 'x'), write(tenant));
    const outcomes = await Promise.allSettled([
      kv.put(entry('a', 'kept'), write(tenant)),
      kv.increment({ namespace: '', key: 'text', delta: 1 }, write(tenant)),
      kv.put(entry('large', 'x'.repeat(QUOTA)), write(tenant)),
      kv.put(entry('nul\0', 'x'), write(tenant)),
      kv.increment({ namespace: '', key: 'n', delta: 2 }, write(tenant)),
    ]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'rejected', 'rejected', 'fulfilled'],
    );
    const keys = await kv.list({ namespace: '', prefix: '', after: null, limit: 10 }, read(tenant));
    assert.deepEqual(keys, ['a', 'n', 'text']);
  });

  test('I4: of calls of two areas in one place one acts, and the other is refused', async () => {
    for (let turn = 0; turn < 10; turn++) {
      const tenant = freshTenant();
      const call = (method: string) => write(tenant, { id: 'same', method });
      const outcomes = await Promise.allSettled([
        ports(0).kv.put(entry('a', 'x'), call('kvStorage.put')),
        ports(1).cache.put({ ...entry('a', 'x'), expiresAt: NOW + 1 }, call('cache.put')),
      ]);
      const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
      assert.deepEqual(
        refused.map(({ reason }) => reason.code),
        ['idempotency_key_mismatch'],
      );
    }
  });

  test('a storm of calls and sweeps: all counts are right, and nobody waited in a circle', async () => {
    const tenants = [freshTenant(), freshTenant()];
    const seen = { added: new Map(tenants.map((tenant) => [tenant, 0])), settled: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(actAmong(tenants), { minLength: 120, maxLength: 120 }), async (acts) => {
        await Promise.all(acts.map((act) => perform(ports(act.process), act, seen).catch(mustBeFull)));
        for (const tenant of tenants) await countsAreRight(ports(), tenant, seen.added.get(tenant)!);
      }),
      { numRuns: 4 },
    );
    assert.ok(seen.settled > 0);
    assert.equal(await deadlocks(both, opened!.url), 0);
  });
});

const actAmong = (tenants: readonly string[]) =>
  fc.record({
    process: fc.constantFrom(0, 1),
    tenant: fc.constantFrom(...tenants),
    kind: fc.constantFrom('put', 'expiring', 'delete', 'add', 'cache', 'evict', 'publish', 'take', 'sweep'),
    key: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    size: fc.integer({ min: 0, max: 3_000 }),
    outcome: fc.constantFrom({ kind: 'done' }, { kind: 'again', delayMs: 0 }, { kind: 'dead', reason: 'r' }),
  });
type StormAct = ReturnType<typeof actAmong> extends fc.Arbitrary<infer A> ? A : never;

interface Seen {
  readonly added: Map<string, number>;
  settled: number;
}

async function perform({ kv, cache, queue, database }: Ports, act: StormAct, seen: Seen): Promise<void> {
  const { tenant, key, size } = act;
  const [place, value, call] = [{ namespace: '', key }, 'x'.repeat(size), write(tenant)];
  const old = write(tenant, { now: NOW - 2 * QUEUE_CONTRACT_BOUNDS.retentionMs });
  const draft = { topic: size % 3 === 0 ? `${key}.dlq` : key, payload: value, headers: {}, delayMs: 0 };
  switch (act.kind) {
    case 'put':
      return void (await kv.put(entry(key, value), call));
    case 'expiring':
      return void (await kv.put(entry(key, value, NOW - 1), call));
    case 'delete':
      return void (await kv.delete(place, call));
    case 'add':
      await kv.increment({ namespace: '', key: 'n', delta: size }, call);
      return void seen.added.set(tenant, seen.added.get(tenant)! + size);
    case 'cache':
      return cache.put({ ...place, value, expiresAt: NOW - 1_500 + size }, call);
    case 'evict':
      return void (await cache.evict(place, call));
    case 'publish':
      return void (await queue.publish(draft, size % 2 === 0 ? old : call));
    case 'take':
      return take({ queue }, act, seen);
    case 'sweep':
      await sweepPostgres(database, { now: NOW, recordedBefore: 0 });
      return void (await queue.sweep(NOW));
  }
}

async function take({ queue }: Pick<Ports, 'queue'>, { tenant, key, outcome }: StormAct, seen: Seen) {
  const request = { topic: key, group: '', messagesMax: 3, visibilityMs: 1_000, waitMs: 0, signal: NEVER };
  for (const { handle } of await queue.consume(request, write(tenant))) {
    const settling = queue.settle(handle, outcome as QueueOutcome, write(tenant));
    // A sweep may have taken the message
    await settling.then(() => seen.settled++, mustBe('queue_delivery_token_expired'));
  }
}

const mustBe =
  (...codes: readonly string[]) =>
  (error: unknown) => {
    if (!(error instanceof OpenwopError) || !codes.includes(error.code)) throw error;
  };
const mustBeFull = mustBe('kv_quota_exhausted', 'queue_backend_unavailable', 'queue_delivery_token_expired');

/** What is counted is what is there, and within its bounds. */
async function countsAreRight({ database, kv }: Ports, tenant: string, added: number): Promise<void> {
  const [row] = await database.read(
    (sql) => sql<
      Record<'kv' | 'cache' | 'queue' | 'counted_kv' | 'counted_cache' | 'counted_queue', number>[]
    >`
      select
        (select coalesce(sum(bytes), 0)::bigint from kv where tenant = ${tenant}) as kv,
        (select coalesce(sum(bytes), 0)::bigint from cache where tenant = ${tenant}) as cache,
        (select coalesce(sum(bytes), 0)::bigint from queue_messages where tenant = ${tenant}) as queue,
        (select coalesce(sum(bytes), 0)::bigint from usage where tenant = ${tenant} and area = 'kv') as counted_kv,
        (select coalesce(sum(bytes), 0)::bigint from usage where tenant = ${tenant} and area = 'cache') as counted_cache,
        (select coalesce(sum(bytes), 0)::bigint from queue_topics where tenant = ${tenant}) as counted_queue
    `,
  );
  assert.ok(row);
  const { kv: ofKv, cache, queue } = row;
  assert.deepEqual([ofKv, cache, queue], [row.counted_kv, row.counted_cache, row.counted_queue]);
  assert.ok(ofKv <= QUOTA && cache <= QUOTA, JSON.stringify(row));
  const counter = await kv.get({ namespace: '', key: 'n' }, read(tenant));
  assert.equal(counter?.value ?? 0, added);
}

/** Sessions tell what they have counted when they end. */
async function deadlocks(both: readonly Ports[], url: string): Promise<number> {
  for (const { database } of both) await database.close();
  const sql = postgres(url, { max: 1 });
  const [row] = await sql`select deadlocks from pg_stat_database where datname = current_database()`;
  await sql.end();
  return Number(row?.deadlocks);
}
