import { areStorable } from '../../check.ts';
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
import { rowOf, rowsOf, type Sql } from '../sql.ts';

export const recordReads = (sql: Sql): RecordReads => ({
  async idempotency(tenant, operation, key) {
    if (!areStorable(tenant, operation, key)) return null;
    return rowOf(sql<IdempotencyRecord[]>`
      select ${sql.unsafe(IDEMPOTENCY_COLUMNS)}
      from idempotency
      where tenant = ${tenant} and operation = ${operation} and key = ${key}
    `);
  },
  async invocation(tenant, invocationId) {
    if (!areStorable(tenant, invocationId)) return null;
    return rowOf(sql<InvocationRecord[]>`
      select ${sql.unsafe(INVOCATION_COLUMNS)}
      from invocations
      where tenant = ${tenant} and invocation_id = ${invocationId}
    `);
  },
  async openClaims(tenant, runId, limit) {
    if (!areStorable(tenant, runId)) return [];
    return rowsOf(sql<InvocationRecord[]>`
      select ${sql.unsafe(INVOCATION_COLUMNS)}
      from invocations
      where tenant = ${tenant} and run_id = ${runId} and outcome is null
      order by claimed_at, invocation_id
      limit ${limit}
    `);
  },
  async pinnedHashes() {
    const found = await sql<{ hash: string }[]>`select distinct workflow_hash as hash from runs`;
    return found.map(({ hash }) => hash);
  },
  async definition(hash) {
    if (!areStorable(hash)) return null;
    const [found] = await sql<{ body: string }[]>`
      select ${sql.unsafe(DEFINITION_COLUMNS)} from definitions where hash = ${hash}
    `;
    return found?.body ?? null;
  },
  async content(hash) {
    if (!areStorable(hash)) return null;
    const [found] = await sql<{ bytes: Uint8Array }[]>`select bytes from contents where hash = ${hash}`;
    return found?.bytes ?? null;
  },
  workflow: async (tenant, workflowId) => (await versions(sql, tenant, workflowId, 1))[0] ?? null,
  workflowVersions: (tenant, workflowId) => versions(sql, tenant, workflowId, null),
  async workflows(tenant) {
    if (!areStorable(tenant)) return [];
    return rowsOf(sql<WorkflowRecord[]>`
      select distinct on (workflow_id) ${sql.unsafe(WORKFLOW_COLUMNS)}
      from workflows
      where tenant in (${tenant}, '*')
      order by workflow_id, tenant = '*', place desc
    `);
  },
  async keys(tenant) {
    if (!areStorable(tenant)) return [];
    const rows = await sql<KeyRow[]>`
      select ${sql.unsafe(KEY_COLUMNS)} from keys where tenant = ${tenant} order by created_at, key_id
    `;
    return rows.map(toKey);
  },
  async keyByHash(hash) {
    if (!areStorable(hash)) return null;
    const [found] = await sql<KeyRow[]>`
      select ${sql.unsafe(KEY_COLUMNS)} from keys where hash = ${hash} order by created_at desc limit 1
    `;
    return found ? toKey(found) : null;
  },
});

type KeyRow = Omit<KeyRecord, 'scopes'> & { readonly scopes: string };

const toKey = (row: KeyRow): KeyRecord => ({ ...row, scopes: JSON.parse(row.scopes) });

/** The tenant's own versions hide shared versions of the same id. `limit null` is no limit. */
async function versions(
  sql: Sql,
  tenant: string,
  workflowId: string,
  limit: number | null,
): Promise<WorkflowRecord[]> {
  if (!areStorable(tenant, workflowId)) return [];
  return rowsOf(sql<WorkflowRecord[]>`
    select ${sql.unsafe(WORKFLOW_COLUMNS)}
    from workflows
    where workflow_id = ${workflowId} and (
      tenant = ${tenant}
      or tenant = '*'
        and not exists (select 1 from workflows where tenant = ${tenant} and workflow_id = ${workflowId})
    )
    order by place desc
    limit ${limit}
  `);
}
