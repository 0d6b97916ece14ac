import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { StoredEvent } from '@gantry/protocol';
import { RUN_STATUSES } from '@gantry/protocol/run-status';
import { EVENT_COLUMNS, RUN_COLUMNS, SNAPSHOT_COLUMNS } from '../../columns.ts';
import { AFTER_EVERY_TEXT } from '../../index-bounds.ts';
import type { LoadedRun, RunFilter, RunKey, RunRow, RunSnapshotRecord } from '../../port.ts';
import { LIMIT, selectAll, selectEach, selectOne } from '../rows.ts';

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
    highestId: prepareHighestId(database),
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
  return (tenant: string, runId: string, fromSequence: number, limit: number, bytesMax?: number) => {
    if (bytesMax === undefined) return selectAll<StoredEvent>(select, runId, fromSequence, tenant, limit);
    const page: StoredEvent[] = [];
    let bytes = 0;
    for (const event of selectEach<StoredEvent>(select, runId, fromSequence, tenant, limit)) {
      bytes += Buffer.byteLength(event.payload) + Buffer.byteLength(event.sealed ?? '');
      if (bytes > bytesMax && page.length > 0) break;
      page.push(event);
      // No other one fits: do not read it for that.
      if (bytes >= bytesMax) break;
    }
    return page;
  };
}

/**
 * Each filter is a range of an index that ends with the run id, so a page is read from where it starts, whatever the
 * history. Without a status the ranges of all statuses are merged: an index of its own would cost each run more than
 * that costs a list. The index is named: without statistics SQLite may prefer another one.
 */
export function listSql({ status, workflowId }: Pick<RunFilter, 'status' | 'workflowId'>): string {
  const index = workflowId === undefined ? 'runs_by_status' : 'runs_by_workflow_and_status';
  const ofStatus = (term: string): string => `
    select ${RUN_COLUMNS}
    from runs indexed by ${index}
    where tenant = ?1
      and run_id < ?2
      and status = ${term}
      ${workflowId === undefined ? '' : 'and workflow_id = ?4'}
  `;
  const ranges = status === undefined ? RUN_STATUSES.map((each) => ofStatus(`'${each}'`)) : [ofStatus('?3')];
  return `${ranges.join('union all')} order by "runId" desc limit ?5 + 0`;
}

function prepareList(database: DatabaseSync) {
  const prepared = new Map<string, StatementSync>();
  return (tenant: string, filter: RunFilter): RunRow[] => {
    const { beforeRunId, status, workflowId, limit } = filter;
    const text = listSql(filter);
    const select = prepared.get(text) ?? database.prepare(text);
    prepared.set(text, select);
    const values = [tenant, beforeRunId ?? AFTER_EVERY_TEXT, status ?? null, workflowId ?? null, limit];
    return selectAll<RunRow>(select, ...values);
  };
}

export const ACTIVE_IN_SCOPE = `
  select run_id as runId
  from runs indexed by runs_active_by_scope
  where tenant = ? and scope_id = ? and scope_id is not null and ended_at is null
  order by run_id
  limit 1
`;

function prepareActiveInScope(database: DatabaseSync) {
  const select = database.prepare(ACTIVE_IN_SCOPE);
  return (tenant: string, scopeId: string): string | null =>
    selectOne<{ runId: string }>(select, tenant, scopeId)?.runId ?? null;
}

function prepareNextWakeAt(database: DatabaseSync) {
  const select = database.prepare(`
    select min(wake_at) as wakeAt from runs where owner is null and wake_at is not null
  `);
  return (): number | null => selectOne<{ wakeAt: number | null }>(select)?.wakeAt ?? null;
}

function prepareHighestId(database: DatabaseSync) {
  const select = database.prepare('select max(run_id) as runId from runs');
  return (): string | null => selectOne<{ runId: string | null }>(select)?.runId ?? null;
}
