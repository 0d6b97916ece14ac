/**
 * Reads and locks what the groups of a batch compare against, in one order, so that batches seldom deadlock.
 * `lateral` looks up each key by itself: a join may be planned as a scan of the whole table.
 */
import type { CommitGroup, Entry, EntryKey, InvocationRecord, RunRow, Write } from '../port.ts';
import { entryKey, idempotencyKey, invocationKey, type Known } from './decide.ts';
import { rowsJson, type Tx } from './sql.ts';

export async function lockKnown(tx: Tx, groups: readonly CommitGroup[]): Promise<Known> {
  const writes = groups.flat();
  return {
    runs: await lockRuns(tx, writes),
    idempotency: await lockIdempotency(tx, writes),
    invocations: await lockInvocations(tx, writes),
    entries: await lockEntries(tx, writes),
  };
}

async function lockRuns(tx: Tx, writes: readonly Write[]): Promise<Known['runs']> {
  const runIds = writes.flatMap((write) => {
    if (write.kind === 'createRun') return [write.facts.runId];
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
    return write.kind === 'settleInvocation' ? [write] : [];
  });
  if (wanted.length === 0) return new Map();
  const rows = await tx<{ tenant: string; invocationId: string; settled: boolean }[]>`
    select found.*
    from (
      select distinct tenant, "invocationId"
      from json_to_recordset(${rowsJson(wanted)}::text::json) as r (tenant text, "invocationId" text)
      order by tenant, "invocationId"
    ) as wanted
    cross join lateral (
      select tenant, invocation_id as "invocationId", outcome is not null as settled
      from invocations
      where (tenant, invocation_id) = (wanted.tenant, wanted."invocationId")
      for update
    ) as found
  `;
  return new Map(rows.map((row) => [invocationKey(row), row.settled ? 'settled' : 'claimed']));
}

async function lockEntries(tx: Tx, writes: readonly Write[]): Promise<Known['entries']> {
  const wanted = writes.flatMap((write): EntryKey[] => {
    if (write.kind === 'deleteEntry') return [write.key];
    return write.kind === 'putEntry' ? [keyOf(write.entry)] : [];
  });
  if (wanted.length === 0) return new Map();
  const rows = await tx<Pick<Entry, 'kind' | 'tenant' | 'id' | 'version'>[]>`
    select found.*
    from (
      select distinct kind, tenant, id
      from json_to_recordset(${rowsJson(wanted)}::text::json) as r (kind text, tenant text, id text)
      order by kind, tenant, id
    ) as wanted
    cross join lateral (
      select kind, tenant, id, version
      from entries
      where (kind, tenant, id) = (wanted.kind, wanted.tenant, wanted.id)
      for update
    ) as found
  `;
  return new Map(rows.map((row) => [entryKey(row), row.version]));
}

/** Without the body, which has no business in a lookup. */
const keyOf = ({ kind, tenant, id }: EntryKey): EntryKey => ({ kind, tenant, id });
