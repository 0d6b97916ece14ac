/** Columns by the names of the port's records, the same in both dialects. */
import { textColumn } from './blob.ts';

export const RUN_COLUMNS = `
  run_id as "runId", tenant, workspace, principal, workflow_id as "workflowId", workflow_hash as "workflowHash",
  scope_id as "scopeId", created_at as "createdAt", ${textColumn('runs', 'request')}, status, owner,
  wake_at as "wakeAt", ended_at as "endedAt", next_seq as "nextSeq"
`;

export const EVENT_COLUMNS = `
  sequence, type, at, node_id as "nodeId", causation_id as "causationId",
  ${textColumn('events', 'payload')}, ${textColumn('events', 'sealed')}
`;

export const SNAPSHOT_COLUMNS = `next_seq as "nextSeq", ${textColumn('snapshots', 'state')}`;

export const IDEMPOTENCY_COLUMNS = `
  tenant, operation, key, digest, status, ${textColumn('idempotency', 'body')}, expires_at as "expiresAt"
`;

export const INVOCATION_COLUMNS = `
  invocation_id as "invocationId", tenant, run_id as "runId", node_id as "nodeId",
  ${textColumn('invocations', 'outcome')}, claimed_at as "claimedAt", claim_id as "claimId",
  events_pending as "eventsPending"
`;

export const DEFINITION_COLUMNS = textColumn('definitions', 'body');

const ENTRY_FACTS = `
  entries.kind, entries.tenant, entries.id, workspace, ref, version, due_at as "dueAt", expires_at as "expiresAt",
  created_at as "createdAt"
`;

export const ENTRY_COLUMNS = `${ENTRY_FACTS}, ${textColumn('entries', 'body')}`;

/** A large body is a reference. */
export const ENTRY_COLUMNS_AT_REST = `${ENTRY_FACTS}, entries.body`;

export const FEED_COLUMNS = 'number, kind, tenant, workspace, id, version, op, actor, at';

export const WORKFLOW_COLUMNS = `
  tenant, workflow_id as "workflowId", hash, version, name, registered_at as "registeredAt"
`;

export const KEY_COLUMNS = `
  key_id as "keyId", tenant, name, hash, scopes, created_at as "createdAt", expires_at as "expiresAt",
  revoked_at as "revokedAt"
`;
