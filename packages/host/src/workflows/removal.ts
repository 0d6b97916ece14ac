/**
 * Deletes a workflow with all its versions. Its runs stay, with the definitions that they are pinned to, so a run that
 * starts concurrently continues to its end.
 */
import { isTerminal, OpenwopError, RUN_STATUSES } from '@gantry/protocol';
import type { RunRow, Store } from '@gantry/store';
import { syncNote, type WorkflowKey } from '../triggers/definition-sync.ts';
import { endTurns, turnsOf } from './registration-turns.ts';
import { SHARED } from './shared.ts';

const ACTIVE = RUN_STATUSES.filter((status) => !isTerminal(status));

/** Returns the owner: the tenant, or the shared one. The sync after the note of the commit removes its triggers. */
export async function removeAll(
  { store, now }: { store: Pick<Store, 'commit' | 'records' | 'entries' | 'runs'>; now: () => number },
  { tenant, workflowId }: WorkflowKey,
  mayRemoveShared: boolean,
): Promise<string> {
  for (;;) {
    const current = await store.records.workflow(tenant, workflowId);
    if (!current) throw new OpenwopError('not_found', { message: 'There is no workflow with this id.' });
    if (current.tenant === SHARED && !mayRemoveShared) throw isShared(workflowId);
    const turns = await turnsOf(store.entries, current.tenant, new Set([workflowId]));
    const active = await activeRun(store.runs, { tenant, workflowId });
    if (active) throw isInUse(workflowId, active);
    const note = syncNote({ ...current, registeredAt: now() });
    const write = { kind: 'deleteWorkflow', tenant: current.tenant, workflowId } as const;
    const ended = endTurns({ tenant: current.tenant, workflowId }, turns.get(workflowId));
    const [result] = await store.commit([[write, ...ended, note]]);
    // Lost to a registration, or to a note with the same time: the next try has a later time
    if (result?.won) return current.tenant;
  }
}

async function activeRun(
  runs: Store['runs'],
  { tenant, workflowId }: WorkflowKey,
): Promise<RunRow | undefined> {
  for (const status of ACTIVE) {
    const [run] = await runs.list(tenant, { workflowId, status, limit: 1 });
    if (run) return run;
  }
  return;
}

const isShared = (workflowId: string): OpenwopError =>
  new OpenwopError('forbidden', {
    message: `${workflowId} is shared by all tenants of this host. Only a host admin can delete it.`,
    details: { workflowId },
  });

const isInUse = (workflowId: string, { runId, status }: RunRow): OpenwopError =>
  new OpenwopError('conflict', {
    message: `Run ${runId} of ${workflowId} is ${status}. Wait until it ends or cancel it, then delete the workflow.`,
    details: { workflowId, runId, runStatus: status },
  });
