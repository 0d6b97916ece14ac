/**
 * Reads and locks the rows that the groups of a batch compare against, in one order, so that batches seldom
 * deadlock. `lateral` looks up each key separately: a join may be planned as a scan of the whole table.
 */
import { columnOf } from '../columns.ts';
import { entryKey } from '../entry.ts';
import type { CommitGroup, EntryKey, IdempotencyRecord, InvocationRecord, RunRow, Write } from '../port.ts';
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
import { rowsAs, type Tx } from './sql.ts';

/** `newRuns: 'presumed'`: ids of new runs are not looked up. If one is taken, the insert fails. */
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

interface Lookup {
  /** The members of the key. */
  readonly key: readonly string[];
  /** The columns to read, and a condition on the rows if not all with the key are wanted. */
  readonly columns: string;
  readonly where?: string;
  /** How the rows are locked. */
  readonly lock?: 'for update';
}

/** Looks up each key once, in sorted order. */
async function lookUp<Row extends object>(
  tx: Tx,
  table: string,
  { key, columns, where = '', lock }: Lookup,
  wanted: readonly object[],
): Promise<Row[]> {
  if (wanted.length === 0) return [];
  const members = key.map((member) => `"${member}"`);
  const keys = tx.unsafe(members.join(', '));
  return tx<Row[]>`
    select found.*
    from (
      select distinct ${keys}
      from ${rowsAs(tx, 'r', wanted, members.map((member) => `${member} text`).join(', '))}
      order by ${keys}
    ) as wanted
    cross join lateral (
      select ${tx.unsafe(columns)}
      from ${tx.unsafe(table)}
      where (${tx.unsafe(key.map(columnOf).join(', '))}) = (${tx.unsafe(members.map((member) => `wanted.${member}`).join(', '))})
        ${tx.unsafe(where)}
      ${tx.unsafe(lock ?? '')}
    ) as found
  `;
}

async function lockIdempotency(tx: Tx, writes: readonly Write[]): Promise<Known['idempotency']> {
  const wanted = writes.flatMap((write) => (write.kind === 'idempotency' ? [keyIn(write.record)] : []));
  const key = ['tenant', 'operation', 'key'];
  const columns = 'tenant, operation, key, expires_at as "expiresAt"';
  const rows = await lookUp<IdempotencyRecord>(
    tx,
    'idempotency',
    { key, columns, lock: 'for update' },
    wanted,
  );
  return new Map(rows.map((row) => [idempotencyKey(row), row.expiresAt]));
}

/** Without the body, which a lookup does not need. */
const keyIn = ({ tenant, operation, key }: IdempotencyRecord) => ({ tenant, operation, key });

async function lockInvocations(tx: Tx, writes: readonly Write[]): Promise<Known['invocations']> {
  const wanted = writes.flatMap((write): Pick<InvocationRecord, 'tenant' | 'invocationId'>[] => {
    if (write.kind === 'claimInvocation') return [write.record];
    return write.kind === 'settleInvocation' || write.kind === 'tellInvocation' ? [write] : [];
  });
  const key = ['tenant', 'invocationId'];
  const columns = `tenant, invocation_id as "invocationId",
    case when outcome is null then 'claimed' when events_pending then 'pending' else 'settled' end as state`;
  const rows = await lookUp<InvocationRecord & { state: InvocationState }>(
    tx,
    'invocations',
    { key, columns, lock: 'for update' },
    wanted,
  );
  return new Map(rows.map((row) => [invocationKey(row), row.state]));
}

const ENTRY_KEY = ['kind', 'tenant', 'id'];

async function lockEntries(tx: Tx, writes: readonly Write[]): Promise<Known['entries']> {
  const wanted = writes.flatMap((write): EntryKey[] => {
    if (write.kind === 'deleteEntry' || write.kind === 'expectEntry') return [write.key];
    return write.kind === 'putEntry' ? [keyOf(write.entry)] : [];
  });
  const columns = 'kind, tenant, id, version, workspace';
  const lookup = { key: ENTRY_KEY, columns, lock: 'for update' } as const;
  const rows = await lookUp<EntryKey & EntryState>(tx, 'entries', lookup, wanted);
  return new Map(rows.map((row) => [entryKey(row), row]));
}

/** The key alone, without other members. */
const keyOf = ({ kind, tenant, id }: EntryKey): EntryKey => ({ kind, tenant, id });

/** If a kind and tenant have a limit, one transaction at a time creates entries, so that the limit holds. */
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
    from ${rowsAs(tx, 'wanted', wanted, 'kind text, tenant text')}
    cross join lateral (
      select count(*) from entries where (kind, tenant) = (wanted.kind, wanted.tenant)
    ) as found
  `;
  return new Map(rows.map((row) => [countKey(row), row.count]));
}

/** Any number: the salt of the hashes that are these lock keys. */
const LIMIT_LOCKS = 7_070_418_002;

/** If a value is taken meanwhile, the insert fails. */
async function readUniques(tx: Tx, writes: readonly Write[]): Promise<Known['uniques']> {
  const wanted = writes.flatMap((write) => (write.kind === 'putEntry' ? uniquesOf(write.entry) : []));
  const key = ['kind', 'tenant', 'name', 'value'];
  const lookup = { key, columns: 'kind, tenant, name, value, id', where: 'and is_unique' };
  const rows = await lookUp<EntryKey & { name: string; value: string }>(tx, 'entry_index', lookup, wanted);
  return new Map(rows.map((row) => [uniqueKey(row), entryKey(row)]));
}

async function lockCounters(tx: Tx, writes: readonly Write[]): Promise<Known['counters']> {
  const wanted = writes.flatMap((write) => (write.kind === 'adjust' ? [write.key] : []));
  const lookup = { key: ENTRY_KEY, columns: 'kind, tenant, id, value', lock: 'for update' } as const;
  const rows = await lookUp<EntryKey & { value: number }>(tx, 'counters', lookup, wanted);
  return new Map(rows.map((row) => [entryKey(row), row.value]));
}

/** The lock prevents a lease from being released or ended before this commits. A renewal waits at most that long. */
async function readLeases(tx: Tx, writes: readonly Write[]): Promise<Known['leases']> {
  const epochs = writes.flatMap((write) => (write.kind === 'expectLease' ? [write.epoch] : []));
  if (epochs.length === 0) return new Map();
  const rows = await tx<{ epoch: number; expiresAt: number }[]>`
    select epoch, expires_at as "expiresAt" from leases where epoch = any(${epochs}) order by epoch for share
  `;
  return new Map(rows.map(({ epoch, expiresAt }) => [epoch, expiresAt]));
}
