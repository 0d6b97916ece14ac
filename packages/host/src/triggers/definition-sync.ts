/**
 * Which definition of a workflow is current, and notes that its triggers are still to be compared with it.
 *
 * I1  Every registration and deletion of a workflow leaves a note in its own commit, due at once. The commit that makes
 *     schedules and subscriptions follow from the current definition deletes the note (`trigger-sync.ts`).
 * I2  Shared definitions serve one tenant, the default one, unless that has its own of the same id.
 */
import { DEFAULT_TENANT } from '@gantry/http';
import { type LazyValidator, problemsIn, type WorkflowDefinition } from '@gantry/protocol';
import { creation, listRecords, type RecordKind, type Stored } from '@gantry/resources';
import type { Store, WorkflowRecord, Write } from '@gantry/store';
import type { TSchema } from 'typebox';
import { SHARED } from '../workflows/shared.ts';

const NOTES_MAX = 1_000;

export interface WorkflowKey {
  readonly tenant: string;
  readonly workflowId: string;
}

interface SyncNote {
  readonly workflowId: string;
  readonly dueAt: number;
}

export const syncNotes: RecordKind<SyncNote> = {
  kind: 'trigger-sync',
  idPrefix: 'note',
  ref: ({ workflowId }) => workflowId,
  dueAt: ({ dueAt }) => dueAt,
};

/** I1. */
export function syncNote({ tenant, workflowId, hash, registeredAt }: WorkflowRecord): Write {
  const id = `${workflowId}@${registeredAt}@${hash}`;
  return creation(syncNotes, { tenant, id }, { workflowId, dueAt: registeredAt }, registeredAt);
}

/** Notes about records of this tenant: all of them, or those of one workflow. */
export async function notesOf(
  entries: Pick<Store['entries'], 'list'>,
  tenant: string,
  ref?: string,
): Promise<Stored<SyncNote>[]> {
  const filter = { limit: NOTES_MAX, ...(ref !== undefined && { ref }) };
  const tenants = tenant === DEFAULT_TENANT ? [tenant, SHARED] : [tenant];
  const lists = tenants.map((each) => listRecords(entries, syncNotes, each, filter));
  return (await Promise.all(lists)).flat();
}

/** What is wrong with the configuration of a trigger; null when it can be used. */
export function configProblem(validator: LazyValidator<TSchema>, config: unknown): string | null {
  if (validator.Check(config)) return null;
  const [first] = problemsIn(validator, config);
  return `${first?.field || 'config'} ${first?.problem ?? 'is not valid'}`;
}

/** I2. The tenant of the records that follow from a definition of this tenant. */
export const runTenantOf = (tenant: string): string => (tenant === SHARED ? DEFAULT_TENANT : tenant);

export interface Current {
  readonly definition: WorkflowDefinition;
  readonly registeredAt: number;
}

/** I2. Null when the tenant has no such workflow. */
export async function currentDefinition(
  { records }: Pick<Store, 'records'>,
  tenant: string,
  workflowId: string,
): Promise<Current | null> {
  const current = await records.workflow(tenant, workflowId);
  if (!current || (current.tenant === SHARED && tenant !== DEFAULT_TENANT)) return null;
  const body = await records.definition(current.hash);
  if (body === null) throw new Error(`definition ${current.hash} is missing from the store`);
  return { definition: JSON.parse(body), registeredAt: current.registeredAt };
}
