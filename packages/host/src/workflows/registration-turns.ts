/**
 * Registrations of a workflow take turns: the current version depends on the existing ones, so of two concurrent
 * registrations one loses its commit and reads again. The entry of a workflow has no content, only a version.
 */
import type { Entry, EntryKey, Store, Write } from '@gantry/store';
import type { WorkflowKey } from '../triggers/definition-sync.ts';

const turnKey = ({ tenant, workflowId }: WorkflowKey): EntryKey => ({
  kind: 'workflow-turn',
  tenant,
  id: workflowId,
});

export type Turn = Entry | null;

/** Must be read before the existing versions of the workflow. */
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
  // A version from before a deletion must not be used again
  ...(!before && { firstVersion: now }),
});

/** Deleted with the workflow. */
export const endTurns = (workflow: WorkflowKey, before: Turn | undefined): Write[] =>
  before ? [{ kind: 'deleteEntry', key: turnKey(workflow), expectedVersion: before.version }] : [];
