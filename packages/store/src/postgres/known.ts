/**
 * Reads and locks what the groups of a batch compare against, in one order, so that batches seldom deadlock.
 * `lateral` looks up each key by itself: a join may be planned as a scan of the whole table.
 */
import { entryKey } from '../entry.ts';
import type { CommitGroup, EntryKey, InvocationRecord, RunRow, Write } from '../port.ts';
import {
  countKey,
  type EntryState,
  type InvocationState,
  idempotencyKey,
  invocationKey,
  type Known,
  uniqueKey,
  uniquesOf,
} from './decide.ts';
import { rowsJson, type Tx } from './sql.ts';

/** `newRuns: 'presumed'`: ids of new runs are not looked up. One that is taken shows at the insert. */
export async function lockKnown(
  tx: Tx,
  groups: readonly CommitGroup[],
  newRuns: 'presumed' | 'looked up',
): Promise<Known> {
  const writes = groups.flat();
  return {
    counts: await lockCounts(tx, writes),
    runs: await lockRuns(tx, writes, newRuns),
    idempotency: await lockIdempotency(tx, writes),
    invocations: await lockInvocations(tx, writes),
    entries: await lockEntries(tx, writes),
    uniques: await readUniques(tx, writes),
    counters: await lockCounters(tx, writes),
    leases: await readLeases(tx, writes),
  };
}

async function lockRuns(
  tx: Tx,
  writes: readonly Write[],
  newRuns: 'presumed' | 'looked up',
): Promise<Known['runs']> {
  const runIds = writes.flatMap((write) => {
    if (write.kind === 'createRun') return newRuns === 'presumed' ? [] : [write.facts.runId];
    return write.kind === 'append' ? [write.runId] : [];
  });
  if (runIds.length === 0) return new Map();
  const rows = await tx<Pick<RunRow, 'runId' | 'tenant' | 'nextSeq' | 'owner'>[]>`
    select found.*
    from (select distinct run_id from unnest(${runIds}::text[]) as r (run_id) order by run_id) as wanted
    cross join lateral (
      select run_id as "runId", tenant, next_seq as "nextSeq", owner
      from runs
      where runs.run_id = wanted.run_id
      for update
    ) as found
  `;
  return new Map(rows.map(({ runId, ...state }) => [runId, state]));
}

async function lockIdempotency(tx: Tx, writes: readonly Write[]): Promise<Known['idempotency']> {
  const records = writes.flatMap((write) => (write.kind === 'idempotency' ? [write.record] : []));
  if (records.length === 0) return new Map();
  const rows = await tx<{ tenant: string; operation: string; key: string; expiresAt: number }[]>`
    select found.*
    from (
      select distinct tenant, operation, key
      from json_to_recordset(${rowsJson(records)}::text::json) as r (tenant text, operation text, key text)
      order by tenant, operation, key
    ) as wanted
    cross join lateral (
      select tenant, operation, key, expires_at as "expiresAt"
      from idempotency
      where (tenant, operation, key) = (wanted.tenant, wanted.operation, wanted.key)
      for update
    ) as found
  `;
  return new Map(rows.map((row) => [idempotencyKey(row), row.expiresAt]));
}

async function lockInvocations(tx: Tx, writes: readonly Write[]): Promise<Known['invocations']> {
  const wanted = writes.flatMap((write): Pick<InvocationRecord, 'tenant' | 'invocationId'>[] => {
    if (write.kind === 'claimInvocation') return [write.record];
    return write.kind === 'settleInvocation' || write.kind === 'tellInvocation' ? [write] : [];
  });
  if (wanted.length === 0) return new Map();
  const rows = await tx<{ tenant: string; invocationId: string; state: InvocationState }[]>`
    select found.*
    from (
      select distinct tenant, "invocationId"
      from json_to_recordset(${rowsJson(wanted)}::text::json) as r (tenant text, "invocationId" text)
      order by tenant, "invocationId"
    ) as wanted
    cross join lateral (
      select tenant, invocation_id as "invocationId",
        case when outcome is null then 'claimed' when events_pending then 'pending' else 'settled' end as state
      from invocations
      where (tenant, invocation_id) = (wanted.tenant, wanted."invocationId")
      for update
    ) as found
  `;
  return new Map(rows.map((row) => [invocationKey(row), row.state]));
}

async function lockEntries(tx: Tx, writes: readonly Write[]): Promise<Known['entries']> {
  const wanted = writes.flatMap((write): EntryKey[] => {
    if (write.kind === 'deleteEntry' || write.kind === 'expectEntry') return [write.key];
    return write.kind === 'putEntry' ? [keyOf(write.entry)] : [];
  });
  if (wanted.length === 0) return new Map();
  const rows = await tx<(EntryKey & EntryState)[]>`
    select found.*
    from (${sortedKeys(tx, wanted)}) as wanted
    cross join lateral (
      select kind, tenant, id, version, workspace
      from entries
      where (kind, tenant, id) = (wanted.kind, wanted.tenant, wanted.id)
      for update
    ) as found
  `;
  return new Map(rows.map((row) => [entryKey(row), row]));
}

const sortedKeys = (tx: Tx, keys: readonly EntryKey[]) => tx`
  select distinct kind, tenant, id
  from json_to_recordset(${rowsJson(keys)}::text::json) as r (kind text, tenant text, id text)
  order by kind, tenant, id
`;

/** Without the body, which has no business in a lookup. */
const keyOf = ({ kind, tenant, id }: EntryKey): EntryKey => ({ kind, tenant, id });

/** Entries of a kind and tenant with a limit are created by one transaction at a time, so that none passes it. */
async function lockCounts(tx: Tx, writes: readonly Write[]): Promise<Known['counts']> {
  const limited = new Map<string, { kind: string; tenant: string }>();
  for (const write of writes)
    if (write.kind === 'putEntry' && write.max !== undefined) limited.set(countKey(write.entry), write.entry);
  if (limited.size === 0) return new Map();
  await tx`
    select pg_advisory_xact_lock(hashtextextended(key, ${LIMIT_LOCKS}))
    from unnest(${[...limited.keys()].sort()}::text[]) as wanted (key)
  `;
  const wanted = [...limited.values()].map(({ kind, tenant }) => ({ kind, tenant }));
  const rows = await tx<{ kind: string; tenant: string; count: number }[]>`
    select wanted.kind, wanted.tenant, found.count
    from json_to_recordset(${rowsJson(wanted)}::text::json) as wanted (kind text, tenant text)
    cross join lateral (
      select count(*) from entries where (kind, tenant) = (wanted.kind, wanted.tenant)
    ) as found
  `;
  return new Map(rows.map((row) => [countKey(row), row.count]));
}

/** Any number: the salt of the hashes that are the keys of these locks. */
const LIMIT_LOCKS = 7_070_418_002;

/** A value that is taken meanwhile shows at the insert. */
async function readUniques(tx: Tx, writes: readonly Write[]): Promise<Known['uniques']> {
  const wanted = writes.flatMap((write) => (write.kind === 'putEntry' ? uniquesOf(write.entry) : []));
  if (wanted.length === 0) return new Map();
  const rows = await tx<(EntryKey & { name: string; value: string })[]>`
    select found.*
    from json_to_recordset(${rowsJson(wanted)}::text::json)
      as wanted (kind text, tenant text, name text, value text)
    cross join lateral (
      select kind, tenant, name, value, id
      from entry_index
      where (kind, tenant, name, value) = (wanted.kind, wanted.tenant, wanted.name, wanted.value) and is_unique
    ) as found
  `;
  return new Map(rows.map((row) => [uniqueKey(row), entryKey(row)]));
}

async function lockCounters(tx: Tx, writes: readonly Write[]): Promise<Known['counters']> {
  const wanted = writes.flatMap((write) => (write.kind === 'adjust' ? [write.key] : []));
  if (wanted.length === 0) return new Map();
  const rows = await tx<(EntryKey & { value: number })[]>`
    select found.*
    from (${sortedKeys(tx, wanted)}) as wanted
    cross join lateral (
      select kind, tenant, id, value
      from counters
      where (kind, tenant, id) = (wanted.kind, wanted.tenant, wanted.id)
      for update
    ) as found
  `;
  return new Map(rows.map((row) => [entryKey(row), row.value]));
}

/** The lock keeps a lease from being given up or ended before this commits; renewing it waits no longer than that. */
async function readLeases(tx: Tx, writes: readonly Write[]): Promise<Known['leases']> {
  const epochs = writes.flatMap((write) => (write.kind === 'expectLease' ? [write.epoch] : []));
  if (epochs.length === 0) return new Map();
  const rows = await tx<{ epoch: number; expiresAt: number }[]>`
    select epoch, expires_at as "expiresAt" from leases where epoch = any(${epochs}) order by epoch for share
  `;
  return new Map(rows.map(({ epoch, expiresAt }) => [epoch, expiresAt]));
}
