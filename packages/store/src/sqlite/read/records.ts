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
import type { Sync } from '../channel.ts';
import { LIMIT, type Queries } from '../rows.ts';

export function recordReads({ one, all }: Queries): Sync<RecordReads> {
  const invocation = one<InvocationRecord>(`
    select ${INVOCATION_COLUMNS} from invocations where tenant = ? and invocation_id = ?
  `);
  const openClaims = all<InvocationRecord>(`
    select ${INVOCATION_COLUMNS}
    from invocations
    where tenant = ? and run_id = ? and outcome is null
    order by claimed_at, invocation_id
    ${LIMIT}
  `);
  const definition = one<{ body: string }>(`select ${DEFINITION_COLUMNS} from definitions where hash = ?`);
  const content = one<{ bytes: Uint8Array }>('select bytes from contents where hash = ?');
  const pinned = all<{ hash: string }>('select distinct workflow_hash as hash from runs');
  const keys = all<KeyRow>(`select ${KEY_COLUMNS} from keys where tenant = ? order by created_at, key_id`);
  const keyByHash = all<KeyRow>(`
    select ${KEY_COLUMNS} from keys where hash = ? order by created_at desc limit 1
  `);
  return {
    idempotency: one<IdempotencyRecord>(`
      select ${IDEMPOTENCY_COLUMNS} from idempotency where tenant = ? and operation = ? and key = ?
    `),
    invocation(tenant, invocationId) {
      const found = invocation(tenant, invocationId);
      return found && toInvocation(found);
    },
    openClaims: (tenant, runId, limit) => openClaims(tenant, runId, limit).map(toInvocation),
    definition: (hash) => definition(hash)?.body ?? null,
    content: (hash) => content(hash)?.bytes ?? null,
    pinnedHashes: () => pinned().map(({ hash }) => hash),
    ...workflowReads({ all }),
    keys: (tenant) => keys(tenant).map(toKey),
    keyByHash: (hash) => keyByHash(hash).map(toKey)[0] ?? null,
  };
}

/** SQLite has no booleans. */
const toInvocation = (found: InvocationRecord): InvocationRecord => ({
  ...found,
  eventsPending: Boolean(found.eventsPending),
});

type KeyRow = Omit<KeyRecord, 'scopes'> & { readonly scopes: string };

const toKey = (row: KeyRow): KeyRecord => ({ ...row, scopes: JSON.parse(row.scopes) });

const NO_LIMIT = -1;

type WorkflowReads = Pick<RecordReads, 'workflow' | 'workflows' | 'workflowVersions'>;

/** The tenant's own versions hide shared versions of the same id. */
function workflowReads({ all }: Pick<Queries, 'all'>): Sync<WorkflowReads> {
  const versions = all<WorkflowRecord>(`
    select ${WORKFLOW_COLUMNS}
    from workflows
    where workflow_id = ?2 and (
      tenant = ?1
      or tenant = '*' and not exists (select 1 from workflows where tenant = ?1 and workflow_id = ?2)
    )
    order by place desc
    ${LIMIT}
  `);
  return {
    workflow: (tenant, workflowId) => versions(tenant, workflowId, 1)[0] ?? null,
    workflows: all<WorkflowRecord>(`
      select ${WORKFLOW_COLUMNS}
      from workflows
      where tenant in (?1, '*') and place = (
        select place from workflows as others
        where others.workflow_id = workflows.workflow_id and tenant in (?1, '*')
        order by tenant = '*', place desc
        limit 1
      )
      order by workflow_id
    `),
    workflowVersions: (tenant, workflowId) => versions(tenant, workflowId, NO_LIMIT),
  };
}
