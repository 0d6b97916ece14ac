import type { DatabaseSync } from 'node:sqlite';
import type { StoredEvent } from '@gantry/protocol';
import { RUN_STATUSES } from '@gantry/protocol/run-status';
import { EVENT_COLUMNS, RUN_COLUMNS, SNAPSHOT_COLUMNS } from '../../columns.ts';
import { AFTER_EVERY_TEXT } from '../../index-bounds.ts';
import type { Leases, RunFilter, RunKey, RunReads, RunRow, RunSnapshotRecord } from '../../port.ts';
import type { Sync } from '../channel.ts';
import { LIMIT, prepareMoment, queriesOn } from '../rows.ts';

export function runReads(database: DatabaseSync): Sync<RunReads> {
  const { one } = queriesOn(database);
  const ofOneMoment = prepareMoment(database);
  const snapshot = one<RunSnapshotRecord>(`select ${SNAPSHOT_COLUMNS} from snapshots where run_id = ?`);
  const row = one<RunRow>(`select ${RUN_COLUMNS} from runs where tenant = ? and run_id = ?`);
  const events = prepareEvents(database);
  const activeInScope = one<RunKey>(ACTIVE_IN_SCOPE);
  const highest = one<{ runId: string | null }>('select max(run_id) as runId from runs');
  return {
    row,
    /** Row, snapshot and tail are from one snapshot of the database. */
    load: (tenant, runId) =>
      ofOneMoment(() => {
        const found = row(tenant, runId);
        if (!found) return null;
        const latest = snapshot(runId);
        const tail = events(tenant, runId, latest?.nextSeq ?? 0, found.nextSeq);
        return { row: found, snapshot: latest, tail };
      }),
    events,
    list: prepareList(database),
    activeInScope: (tenant, scopeId) => activeInScope(tenant, scopeId)?.runId ?? null,
    highestId: () => highest()?.runId ?? null,
  };
}

export function leaseReads(database: DatabaseSync): Sync<Pick<Leases, 'owned' | 'nextWakeAt'>> {
  const { one, all } = queriesOn(database);
  const owned = all<RunKey>(`
    select tenant, run_id as runId from runs where owner = ? and run_id > ? order by run_id ${LIMIT}
  `);
  const nextWake = one<{ wakeAt: number | null }>(`
    select min(wake_at) as wakeAt from runs where owner is null and wake_at is not null
  `);
  return {
    owned: (epoch, limit, afterRunId = '') => owned(epoch, afterRunId, limit),
    nextWakeAt: () => nextWake()?.wakeAt ?? null,
  };
}

function prepareEvents(database: DatabaseSync): Sync<RunReads>['events'] {
  const { all, each } = queriesOn(database);
  const text = `
    select ${EVENT_COLUMNS}
    from events
    where run_id = ?1 and sequence >= ?2 and exists (select 1 from runs where run_id = ?1 and tenant = ?3)
    order by sequence
    ${LIMIT}
  `;
  const [allOf, eachOf] = [all<StoredEvent>(text), each<StoredEvent>(text)];
  return (tenant, runId, fromSequence, limit, bytesMax) => {
    if (bytesMax === undefined) return allOf(runId, fromSequence, tenant, limit);
    const page: StoredEvent[] = [];
    let bytes = 0;
    for (const event of eachOf(runId, fromSequence, tenant, limit)) {
      bytes += Buffer.byteLength(event.payload) + Buffer.byteLength(event.sealed ?? '');
      if (bytes > bytesMax && page.length > 0) break;
      page.push(event);
      // No further event fits, so do not read one.
      if (bytes >= bytesMax) break;
    }
    return page;
  };
}

/**
 * Each filter is a range of an index that ends with the run id, so reading a page does not depend on the size of
 * the history. Without a status, the ranges of all statuses are merged: a separate index would cost each run more
 * than the merge costs a list. The index is named: without statistics SQLite may choose another one.
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

function prepareList(database: DatabaseSync): Sync<RunReads>['list'] {
  const { all } = queriesOn(database);
  const prepared = new Map<string, ReturnType<typeof all<RunRow>>>();
  return (tenant, filter) => {
    const { beforeRunId, status, workflowId, limit } = filter;
    const text = listSql(filter);
    const select = prepared.get(text) ?? all<RunRow>(text);
    prepared.set(text, select);
    return select(tenant, beforeRunId ?? AFTER_EVERY_TEXT, status ?? null, workflowId ?? null, limit);
  };
}

export const ACTIVE_IN_SCOPE = `
  select run_id as runId
  from runs indexed by runs_active_by_scope
  where tenant = ? and scope_id = ? and scope_id is not null and ended_at is null
  order by run_id
  limit 1
`;
