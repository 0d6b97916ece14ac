import type { DatabaseSync } from 'node:sqlite';
import type { StoredEvent } from '@gantry/protocol';
import { isTerminal } from '@gantry/protocol/run-status';
import { EVENT_COLUMNS, RUN_COLUMNS, SNAPSHOT_COLUMNS } from '../../columns.ts';
import type { LoadedRun, RunFilter, RunKey, RunRow, RunSnapshotRecord } from '../../port.ts';
import { LIMIT, selectAll, selectOne } from '../rows.ts';

export function prepareRunReads(database: DatabaseSync) {
  const begin = database.prepare('begin');
  const commit = database.prepare('commit');
  const row = prepareRow(database);
  const snapshot = prepareSnapshot(database);
  const events = prepareEvents(database);

  /** One read transaction, so that row, snapshot and tail are of the same moment. */
  const load = (tenant: string, runId: string): LoadedRun | null => {
    begin.run();
    try {
      const found = row(tenant, runId);
      if (!found) return null;
      const latest = snapshot(runId);
      return {
        row: found,
        snapshot: latest,
        tail: events(tenant, runId, latest?.nextSeq ?? 0, found.nextSeq),
      };
    } finally {
      commit.run();
    }
  };
  return {
    row,
    load,
    events,
    list: prepareList(database),
    activeInScope: prepareActiveInScope(database),
    ownedRuns: prepareOwnedRuns(database),
    nextWakeAt: prepareNextWakeAt(database),
  };
}

function prepareOwnedRuns(database: DatabaseSync) {
  const select = database.prepare(`
    select tenant, run_id as runId from runs where owner = ? and run_id > ? order by run_id ${LIMIT}
  `);
  return (epoch: number, limit: number, afterRunId: string): RunKey[] =>
    selectAll<RunKey>(select, epoch, afterRunId, limit);
}

function prepareRow(database: DatabaseSync) {
  const select = database.prepare(`select ${RUN_COLUMNS} from runs where run_id = ? and tenant = ?`);
  return (tenant: string, runId: string) => selectOne<RunRow>(select, runId, tenant);
}

function prepareSnapshot(database: DatabaseSync) {
  const select = database.prepare(`
    select ${SNAPSHOT_COLUMNS} from snapshots where run_id = ?
  `);
  return (runId: string) => selectOne<RunSnapshotRecord>(select, runId);
}

function prepareEvents(database: DatabaseSync) {
  const select = database.prepare(`
    select ${EVENT_COLUMNS}
    from events
    where run_id = ?1 and sequence >= ?2 and exists (select 1 from runs where run_id = ?1 and tenant = ?3)
    order by sequence
    ${LIMIT}
  `);
  return (tenant: string, runId: string, fromSequence: number, limit: number) =>
    selectAll<StoredEvent>(select, runId, fromSequence, tenant, limit);
}

/** Sorts behind every other text, so that the cursor is always a range of the index. */
export const AFTER_EVERY_ID = '\u{10ffff}';

/** Runs that have not ended are few among many: asking for them reads an index that holds no others. */
function prepareList(database: DatabaseSync) {
  const prepare = (condition: string) =>
    database.prepare(`
      select ${RUN_COLUMNS}
      from runs
      where tenant = ?1
        and run_id < ?2
        and (?3 is null or status = ?3)
        and (?4 is null or workflow_id = ?4)
        ${condition}
      order by run_id desc
      ${LIMIT}
    `);
  const any = prepare('');
  const open = prepare('and ended_at is null');
  return (tenant: string, { beforeRunId, status, workflowId, limit }: RunFilter): RunRow[] => {
    const values = [tenant, beforeRunId ?? AFTER_EVERY_ID, status ?? null, workflowId ?? null, limit];
    const select = status === undefined || isTerminal(status) ? any : open;
    return selectAll<RunRow>(select, ...values);
  };
}

function prepareActiveInScope(database: DatabaseSync) {
  const select = database.prepare(`
    select run_id as runId from runs
    where tenant = ? and scope_id = ? and scope_id is not null and ended_at is null
    order by run_id
    limit 1
  `);
  return (tenant: string, scopeId: string): string | null =>
    selectOne<{ runId: string }>(select, tenant, scopeId)?.runId ?? null;
}

function prepareNextWakeAt(database: DatabaseSync) {
  const select = database.prepare(`
    select min(wake_at) as wakeAt from runs where owner is null and wake_at is not null
  `);
  return (): number | null => selectOne<{ wakeAt: number | null }>(select)?.wakeAt ?? null;
}
