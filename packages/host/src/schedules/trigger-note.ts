import type { RecordKind } from '@gantry/resources';
import type { WorkflowRecord, Write } from '@gantry/store';

export const TRIGGER_SYNC_KIND = 'trigger-sync';
export const triggerNotes: RecordKind<object> = { kind: TRIGGER_SYNC_KIND, idPrefix: 'note' };

/** The note that belongs into the commit of a registration. Two of the same instant ask for the same. */
export const triggerSyncNote = ({ tenant, workflowId, hash, registeredAt }: WorkflowRecord): Write => ({
  kind: 'putEntry',
  entry: {
    kind: TRIGGER_SYNC_KIND,
    tenant,
    id: `${workflowId}@${registeredAt}@${hash}`,
    ref: workflowId,
    dueAt: registeredAt,
    expiresAt: null,
    createdAt: registeredAt,
    body: '{}',
  },
  expectedVersion: null,
});
