import { isStorable } from '../../check.ts';
import {
  DEFINITION_COLUMNS,
  IDEMPOTENCY_COLUMNS,
  INVOCATION_COLUMNS,
  KEY_COLUMNS,
  WORKFLOW_COLUMNS,
} from '../../columns.ts';
import type {
  IdempotencyRecord,
  InvocationRecord,
  KeyRecord,
  RecordReads,
  WorkflowRecord,
} from '../../port.ts';
import type { Sql } from '../sql.ts';

export const recordReads = (sql: Sql): RecordReads => ({
  idempotency: (tenant, operation, key) => idempotency(sql, tenant, operation, key),
  invocation: (tenant, invocationId) => invocation(sql, tenant, invocationId),
  openClaims: (tenant, runId, limit) => openClaims(sql, tenant, runId, limit),
  definition: (hash) => definition(sql, hash),
  content: (hash) => content(sql, hash),
  pinnedHashes: () => pinnedHashes(sql),
  workflow: async (tenant, workflowId) => (await versions(sql, tenant, workflowId, 1))[0] ?? null,
  workflows: (tenant) => workflows(sql, tenant),
  workflowVersions: (tenant, workflowId) => versions(sql, tenant, workflowId, null),
  keys: (tenant) => keys(sql, tenant),
  keyByHash: (hash) => keyByHash(sql, hash),
});

async function idempotency(
  sql: Sql,
  tenant: string,
  operation: string,
  key: string,
): Promise<IdempotencyRecord | null> {
  if (![tenant, operation, key].every(isStorable)) return null;
  const [found] = await sql<IdempotencyRecord[]>`
    select ${sql.unsafe(IDEMPOTENCY_COLUMNS)}
    from idempotency
    where tenant = ${tenant} and operation = ${operation} and key = ${key}
  `;
  return found ?? null;
}

async function invocation(sql: Sql, tenant: string, invocationId: string): Promise<InvocationRecord | null> {
  if (![tenant, invocationId].every(isStorable)) return null;
  const [found] = await sql<InvocationRecord[]>`
    select ${sql.unsafe(INVOCATION_COLUMNS)}
    from invocations
    where tenant = ${tenant} and invocation_id = ${invocationId}
  `;
  return found ?? null;
}

async function openClaims(
  sql: Sql,
  tenant: string,
  runId: string,
  limit: number,
): Promise<InvocationRecord[]> {
  if (![tenant, runId].every(isStorable)) return [];
  const rows = await sql<InvocationRecord[]>`
    select ${sql.unsafe(INVOCATION_COLUMNS)}
    from invocations
    where tenant = ${tenant} and run_id = ${runId} and outcome is null
    order by claimed_at, invocation_id
    limit ${limit}
  `;
  return [...rows];
}

async function pinnedHashes(sql: Sql): Promise<string[]> {
  const found = await sql<{ hash: string }[]>`select distinct workflow_hash as hash from runs`;
  return found.map(({ hash }) => hash);
}

async function definition(sql: Sql, hash: string): Promise<string | null> {
  if (!isStorable(hash)) return null;
  const [found] = await sql<{ body: string }[]>`
    select ${sql.unsafe(DEFINITION_COLUMNS)} from definitions where hash = ${hash}
  `;
  return found?.body ?? null;
}

async function content(sql: Sql, hash: string): Promise<Uint8Array | null> {
  if (!isStorable(hash)) return null;
  const [found] = await sql<{ bytes: Uint8Array }[]>`select bytes from contents where hash = ${hash}`;
  return found?.bytes ?? null;
}

/** The tenant's own versions hide the shared ones of the same id. `limit null` is no limit. */
async function versions(
  sql: Sql,
  tenant: string,
  workflowId: string,
  limit: number | null,
): Promise<WorkflowRecord[]> {
  if (![tenant, workflowId].every(isStorable)) return [];
  const rows = await sql<WorkflowRecord[]>`
    select ${sql.unsafe(WORKFLOW_COLUMNS)}
    from workflows
    where workflow_id = ${workflowId} and (
      tenant = ${tenant}
      or tenant = '*'
        and not exists (select 1 from workflows where tenant = ${tenant} and workflow_id = ${workflowId})
    )
    order by place desc
    limit ${limit}
  `;
  return [...rows];
}

async function workflows(sql: Sql, tenant: string): Promise<WorkflowRecord[]> {
  if (!isStorable(tenant)) return [];
  const rows = await sql<WorkflowRecord[]>`
    select distinct on (workflow_id) ${sql.unsafe(WORKFLOW_COLUMNS)}
    from workflows
    where tenant in (${tenant}, '*')
    order by workflow_id, tenant = '*', place desc
  `;
  return [...rows];
}

type KeyRow = Omit<KeyRecord, 'scopes'> & { readonly scopes: string };

const toKey = (row: KeyRow): KeyRecord => ({ ...row, scopes: JSON.parse(row.scopes) });

async function keys(sql: Sql, tenant: string): Promise<KeyRecord[]> {
  if (!isStorable(tenant)) return [];
  const rows = await sql<KeyRow[]>`
    select ${sql.unsafe(KEY_COLUMNS)} from keys where tenant = ${tenant} order by created_at, key_id
  `;
  return rows.map(toKey);
}

async function keyByHash(sql: Sql, hash: string): Promise<KeyRecord | null> {
  if (!isStorable(hash)) return null;
  const [found] = await sql<KeyRow[]>`
    select ${sql.unsafe(KEY_COLUMNS)} from keys where hash = ${hash} order by created_at desc limit 1
  `;
  return found ? toKey(found) : null;
}
