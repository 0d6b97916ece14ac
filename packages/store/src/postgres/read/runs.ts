import type { StoredEvent } from '@gantry/protocol';
import { RUN_STATUSES } from '@gantry/protocol/run-status';
import { areStorable } from '../../check.ts';
import { EVENT_COLUMNS, RUN_COLUMNS, SNAPSHOT_COLUMNS } from '../../columns.ts';
import type { LoadedRun, RunFilter, RunReads, RunRow, RunSnapshotRecord } from '../../port.ts';
import { type Queryable, rowOf, rowsOf, type Sql } from '../sql.ts';

export const runReads = (sql: Sql): RunReads => ({
  row: (tenant, runId) => row(sql, tenant, runId),
  load: (tenant, runId) => load(sql, tenant, runId),
  async events(tenant, runId, fromSequence, limit, bytesMax) {
    if (!areStorable(tenant, runId)) return [];
    const page = sql<StoredEvent[]>`
      select ${sql.unsafe(EVENT_COLUMNS)}
      from events
      where run_id = ${runId}
        and sequence >= ${fromSequence}
        and exists (select 1 from runs where run_id = ${runId} and tenant = ${tenant})
      order by sequence
      limit ${limit}
    `;
    if (bytesMax === undefined) return rowsOf(page);
    return rowsOf(sql<StoredEvent[]>`
      select sequence, type, at, "nodeId", "causationId", payload, sealed
      from (
        select *, sum(octet_length(payload) + octet_length(coalesce(sealed, ''))) over (order by sequence) as bytes
        from (${page}) as page
      ) as sized
      where bytes <= ${bytesMax} or sequence = ${fromSequence}
      order by sequence
    `);
  },
  async list(tenant, filter) {
    if (!areStorable(tenant, filter.beforeRunId, filter.workflowId)) return [];
    return rowsOf(listQuery(sql, tenant, filter));
  },
  async activeInScope(tenant, scopeId) {
    if (!areStorable(tenant, scopeId)) return null;
    const [found] = await activeInScopeQuery(sql, tenant, scopeId);
    return found?.runId ?? null;
  },
  highestId: async () =>
    (await sql<[{ runId: string | null }]>`select max(run_id) as "runId" from runs`)[0].runId,
});

async function row(sql: Queryable, tenant: string, runId: string): Promise<RunRow | null> {
  if (!areStorable(tenant, runId)) return null;
  return rowOf(sql<RunRow[]>`
    select ${sql.unsafe(RUN_COLUMNS)} from runs where run_id = ${runId} and tenant = ${tenant}
  `);
}

/** Reads row, snapshot and tail from one database snapshot, in one round trip. */
async function load(sql: Sql, tenant: string, runId: string): Promise<LoadedRun | null> {
  if (!areStorable(tenant, runId)) return null;
  return sql.begin('isolation level repeatable read read only', async (tx): Promise<LoadedRun | null> => {
    const [found, [snapshot], tail] = await Promise.all([
      row(tx, tenant, runId),
      tx<RunSnapshotRecord[]>`select ${tx.unsafe(SNAPSHOT_COLUMNS)} from snapshots where run_id = ${runId}`,
      tx<StoredEvent[]>`
        select ${tx.unsafe(EVENT_COLUMNS)}
        from events
        where run_id = ${runId}
          and sequence >= coalesce((select next_seq from snapshots where run_id = ${runId}), 0)
          and exists (select 1 from runs where run_id = ${runId} and tenant = ${tenant})
        order by sequence
      `,
    ]);
    return found && { row: found, snapshot: snapshot ?? null, tail: [...tail] };
  });
}

/** As in SQLite: a page is an index range from its start. Without a status, the ranges of all statuses are merged. */
export function listQuery(sql: Queryable, tenant: string, filter: RunFilter) {
  const { beforeRunId, status, workflowId, limit } = filter;
  const page = sql`order by "runId" desc limit ${limit}`;
  const ranges = (status === undefined ? RUN_STATUSES : [status]).map(
    (each) => sql`(
      select ${sql.unsafe(RUN_COLUMNS)}
      from runs
      where tenant = ${tenant}
        and status = ${each}
        ${beforeRunId === undefined ? sql`` : sql`and run_id < ${beforeRunId}`}
        ${workflowId === undefined ? sql`` : sql`and workflow_id = ${workflowId}`}
      ${page}
    )`,
  );
  const merged = ranges.reduce((sum, range) => sql`${sum} union all ${range}`);
  return sql<RunRow[]>`select * from (${merged}) as runs ${page}`;
}

export const activeInScopeQuery = (sql: Queryable, tenant: string, scopeId: string) =>
  sql<{ runId: string }[]>`
    select run_id as "runId"
    from runs
    where tenant = ${tenant} and scope_id = ${scopeId} and ended_at is null
    order by run_id
    limit 1
  `;
