/**
 * Who registered a definition, and whether it may act for somebody who is not there to choose it. A run that a person
 * starts may use any definition of the tenant. Schedules, heartbeats and triggers start runs later, with whatever is
 * current then: a definition must not get rights of their owner that its author did not have.
 */
import { type Caller, HOST_ADMIN } from '@gantry/http';
import { DEFAULT_WORKSPACE, OpenwopError, type RunOwner } from '@gantry/protocol';
import type { WorkflowRecord } from '@gantry/store';
import type { ScopesOf } from '../principals.ts';

/** The rights are those at the registration: a key that ends later does not stop what it registered. */
export interface Registrant {
  readonly principal: string;
  /** Absent in older records: the default one. */
  readonly workspace?: string;
  readonly scopes: readonly string[];
}

export const registrantOf = ({ principal, workspace, scopes }: Caller): Registrant => ({
  principal,
  workspace,
  scopes: [...scopes].toSorted(),
});

const workspaceOf = ({ workspace = DEFAULT_WORKSPACE }: Registrant): string => workspace;

const parsed = ({ registeredBy }: WorkflowRecord): Registrant | null =>
  registeredBy === null ? null : JSON.parse(registeredBy);

/** Throws `forbidden`. The host itself, for example the workflows folder, registers for everybody. */
export async function checkActing(
  scopesOf: ScopesOf,
  { tenant, workspace = DEFAULT_WORKSPACE, principal }: RunOwner,
  record: WorkflowRecord,
): Promise<void> {
  const by = parsed(record);
  if (principal === undefined || by === null || by.principal === principal || by.scopes.includes(HOST_ADMIN))
    return;
  const { workflowId, version } = record;
  const registered = workspaceOf(by);
  if (registered !== workspace)
    throw new OpenwopError('forbidden', {
      message:
        `Version ${version} of ${workflowId} was registered by a key of workspace ${registered}, so it may not act ` +
        `unattended in workspace ${workspace}. Register it again with a key of that workspace, or with host:admin.`,
      details: { workflowId, version },
    });
  const own = (await scopesOf(tenant, principal)) ?? [];
  const missing = own.filter((scope) => !by.scopes.includes(scope));
  if (missing.length === 0) return;
  const lacks = missing.includes(HOST_ADMIN) ? HOST_ADMIN : missing.join(', ');
  throw new OpenwopError('forbidden', {
    message:
      `Version ${version} of ${workflowId} was registered by a key without ${lacks}, so it may not act ` +
      'unattended for a principal who has that. Register it again with a key that has at least these scopes.',
    details: { workflowId, version, missingScopes: missing },
  });
}

/** The registrant of a definition that is registered again unchanged: whoever has the most rights. */
export function raised(record: WorkflowRecord, by: Registrant | undefined): WorkflowRecord {
  const before = parsed(record);
  const isMore =
    before &&
    by &&
    before.scopes.every((scope) => by.scopes.includes(scope)) &&
    (workspaceOf(before) === workspaceOf(by) || by.scopes.includes(HOST_ADMIN));
  return isMore ? { ...record, registeredBy: JSON.stringify(by) } : record;
}
