/**
 * Deletes a run that has ended, with its children.
 *
 * I1  Nothing is deleted while one of them is active.
 * I2  Children are deleted before their parent, and data of other services before the row: after a crash the
 *     requested run still exists, and a repeat deletes the rest.
 */
import { fromStored, OpenwopError } from '@gantry/protocol';
import type { RunKey, RunRow, Store } from '@gantry/store';
import { fromStoredFacts } from './run-record.ts';

const PAGE = 500;

export interface RunDeletionOptions {
  readonly store: Pick<Store, 'runs' | 'retention'>;
  /** Services that keep data of a run beside its row. */
  readonly others: readonly { forgetRun(tenant: string, runId: string): Promise<void> }[];
}

/** Returns the deleted ids, children first; null when the tenant has no such run. */
export async function deleteRun(
  { store, others }: RunDeletionOptions,
  key: RunKey,
): Promise<string[] | null> {
  const family = await familyOf(store.runs, key);
  const active = family.find(({ endedAt }) => endedAt === null);
  if (active) throw isActive(key, active);
  const deleted: string[] = [];
  for (const { tenant, runId } of family.toReversed()) {
    for (const other of others) await other.forgetRun(tenant, runId);
    if (await store.retention.deleteRun(tenant, runId)) deleted.push(runId);
  }
  return deleted.length > 0 ? deleted : null;
}

type Member = Pick<RunRow, 'tenant' | 'runId' | 'status' | 'endedAt'>;

/** The run and all its descendants, parents first. */
async function familyOf(
  runs: Store['runs'],
  { tenant, runId }: RunKey,
  parentId?: string,
): Promise<Member[]> {
  const row = await runs.row(tenant, runId);
  // The log of a fork names children of its source
  if (!row || (parentId !== undefined && fromStoredFacts(row).parent?.runId !== parentId)) return [];
  const { status, endedAt } = row;
  const family: Member[] = [{ tenant, runId, status, endedAt }];
  for (let next = 0; next < row.nextSeq; ) {
    const page = await runs.events(tenant, runId, next, PAGE);
    if (page.length === 0) break;
    next += page.length;
    for (const event of page) {
      if (event.type !== 'node.dispatched') continue;
      const { childRunId } = fromStored(event).payload as { childRunId: string };
      family.push(...(await familyOf(runs, { tenant, runId: childRunId }, runId)));
    }
  }
  return family;
}

const isActive = ({ runId }: RunKey, active: Member): OpenwopError =>
  new OpenwopError('conflict', {
    message:
      active.runId === runId
        ? `The run is ${active.status}. Cancel it first, or wait until it ends.`
        : `Run ${active.runId}, which this run started, is ${active.status}. Cancel it first, or wait until it ends.`,
    details: { runId: active.runId, runStatus: active.status },
  });
