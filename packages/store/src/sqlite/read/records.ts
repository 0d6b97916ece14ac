import type { DatabaseSync } from 'node:sqlite';
import {
  DEFINITION_COLUMNS,
  IDEMPOTENCY_COLUMNS,
  INVOCATION_COLUMNS,
  KEY_COLUMNS,
  WORKFLOW_COLUMNS,
} from '../../columns.ts';
import type { IdempotencyRecord, InvocationRecord, KeyRecord, WorkflowRecord } from '../../port.ts';
import { LIMIT, selectAll, selectOne } from '../rows.ts';

export function prepareRecordReads(database: DatabaseSync) {
  return {
    idempotency: prepareIdempotency(database),
    invocation: prepareInvocation(database),
    openClaims: prepareOpenClaims(database),
    definition: prepareDefinition(database),
    content: prepareContent(database),
    pinnedHashes: preparePinnedHashes(database),
    ...prepareWorkflows(database),
    ...prepareKeys(database),
  };
}

function prepareIdempotency(database: DatabaseSync) {
  const select = database.prepare(`
    select ${IDEMPOTENCY_COLUMNS}
    from idempotency
    where tenant = ? and operation = ? and key = ?
  `);
  return (tenant: string, operation: string, key: string) =>
    selectOne<IdempotencyRecord>(select, tenant, operation, key);
}

function prepareInvocation(database: DatabaseSync) {
  const select = database.prepare(`
    select ${INVOCATION_COLUMNS}
    from invocations
    where tenant = ? and invocation_id = ?
  `);
  return (tenant: string, invocationId: string): InvocationRecord | null => {
    const found = selectOne<InvocationRecord>(select, tenant, invocationId);
    return found && { ...found, eventsPending: Boolean(found.eventsPending) };
  };
}

function prepareOpenClaims(database: DatabaseSync) {
  const select = database.prepare(`
    select ${INVOCATION_COLUMNS}
    from invocations
    where tenant = ? and run_id = ? and outcome is null
    order by claimed_at, invocation_id
    ${LIMIT}
  `);
  return (tenant: string, runId: string, limit: number): InvocationRecord[] =>
    selectAll<InvocationRecord>(select, tenant, runId, limit).map((found) => ({
      ...found,
      eventsPending: Boolean(found.eventsPending),
    }));
}

function prepareDefinition(database: DatabaseSync) {
  const select = database.prepare(`select ${DEFINITION_COLUMNS} from definitions where hash = ?`);
  return (hash: string) => selectOne<{ body: string }>(select, hash)?.body ?? null;
}

function prepareContent(database: DatabaseSync) {
  const select = database.prepare('select bytes from contents where hash = ?');
  return (hash: string) => selectOne<{ bytes: Uint8Array }>(select, hash)?.bytes ?? null;
}

function preparePinnedHashes(database: DatabaseSync) {
  const select = database.prepare('select distinct workflow_hash as hash from runs');
  return (): string[] => selectAll<{ hash: string }>(select).map(({ hash }) => hash);
}

const NO_LIMIT = -1;

/** The tenant's own versions hide the shared ones of the same id. */
function prepareWorkflows(database: DatabaseSync) {
  const selectVersions = database.prepare(`
    select ${WORKFLOW_COLUMNS}
    from workflows
    where workflow_id = ?2 and (
      tenant = ?1
      or tenant = '*' and not exists (select 1 from workflows where tenant = ?1 and workflow_id = ?2)
    )
    order by place desc
    ${LIMIT}
  `);
  const selectCurrent = database.prepare(`
    select ${WORKFLOW_COLUMNS}
    from workflows as listed
    where tenant in (?1, '*') and place = (
      select place from workflows
      where workflow_id = listed.workflow_id and tenant in (?1, '*')
      order by tenant = '*', place desc
      limit 1
    )
    order by workflow_id
  `);
  const versions = (tenant: string, workflowId: string, limit: number) =>
    selectAll<WorkflowRecord>(selectVersions, tenant, workflowId, limit);
  return {
    workflow: (tenant: string, workflowId: string) => versions(tenant, workflowId, 1)[0] ?? null,
    workflows: (tenant: string) => selectAll<WorkflowRecord>(selectCurrent, tenant),
    workflowVersions: (tenant: string, workflowId: string) => versions(tenant, workflowId, NO_LIMIT),
  };
}

function prepareKeys(database: DatabaseSync) {
  const selectByTenant = database.prepare(`
    select ${KEY_COLUMNS} from keys where tenant = ? order by created_at, key_id
  `);
  const selectByHash = database.prepare(`
    select ${KEY_COLUMNS} from keys where hash = ? order by created_at desc limit 1
  `);
  return {
    keys: (tenant: string): KeyRecord[] => selectAll<KeyRow>(selectByTenant, tenant).map(toKey),
    keyByHash: (hash: string): KeyRecord | null => {
      const found = selectOne<KeyRow>(selectByHash, hash);
      return found ? toKey(found) : null;
    },
  };
}

type KeyRow = Omit<KeyRecord, 'scopes'> & { readonly scopes: string };

const toKey = (row: KeyRow): KeyRecord => ({ ...row, scopes: JSON.parse(row.scopes) });
