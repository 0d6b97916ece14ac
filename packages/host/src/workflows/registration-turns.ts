/**
 * Registrations of a workflow take turns: which version is current follows from those that are there, so of two at the
 * same instant one loses its commit and looks again. The entry of a workflow has no content, its version is all.
 */
import type { Entry, EntryKey, Store, Write } from '@gantry/store';
import type { WorkflowKey } from '../triggers/definition-sync.ts';

const turnKey = ({ tenant, workflowId }: WorkflowKey): EntryKey => ({
  kind: 'workflow-turn',
  tenant,
  id: workflowId,
});

export type Turn = Entry | null;

/** To be read before the versions that are there. */
export async function turnsOf(
  entries: Pick<Store['entries'], 'get'>,
  tenant: string,
  workflowIds: ReadonlySet<string>,
): Promise<ReadonlyMap<string, Turn>> {
  const turns = [...workflowIds].map(
    async (workflowId): Promise<[string, Turn]> => [
      workflowId,
      await entries.get(turnKey({ tenant, workflowId })),
    ],
  );
  return new Map(await Promise.all(turns));
}

export const takeTurn = (workflow: WorkflowKey, before: Turn | undefined, now: number): Write => ({
  kind: 'putEntry',
  entry: {
    ...turnKey(workflow),
    ref: null,
    dueAt: null,
    expiresAt: null,
    createdAt: before?.createdAt ?? now,
    body: '{}',
  },
  expectedVersion: before?.version ?? null,
  // A version of before a deletion must not come again
  ...(!before && { firstVersion: now }),
});

/** With the workflow itself. */
export const endTurns = (workflow: WorkflowKey, before: Turn | undefined): Write[] =>
  before ? [{ kind: 'deleteEntry', key: turnKey(workflow), expectedVersion: before.version }] : [];
