/**
 * Keeps what follows from the triggers of a workflow, schedules and subscriptions, equal to its current version.
 *
 * I1  Every registration leaves a note for each of them in its own commit, due at once. A change compares what is
 *     stored with the stored definition and deletes the note in the commit of the outcome: a crash in between only
 *     means that this happens later, two at once that one of them is decided again.
 * I2  Shared definitions serve one tenant, the default one, unless that has its own of the same id.
 */
import { DEFAULT_TENANT } from '@gantry/http';
import type { LazyValidator, WorkflowDefinition } from '@gantry/protocol';
import { type Change, type Changes, listRecords, type RecordKind, type Stored } from '@gantry/resources';
import type { Store, WorkflowRecord, Write } from '@gantry/store';
import type { TSchema } from 'typebox';
import { SHARED } from '../workflows/shared.ts';

export const SCHEDULE_SYNC = 'trigger-sync';
export const SUBSCRIPTION_SYNC = 'trigger-subscription-sync';
const NOTES_MAX = 1_000;

export interface WorkflowKey {
  readonly tenant: string;
  readonly workflowId: string;
}

export interface SyncOptions {
  readonly store: Pick<Store, 'entries' | 'records'>;
  readonly changes: Pick<Changes, 'run'>;
}

/** The notes that belong into the commit of a registration. Two of the same instant ask for the same. */
export const syncNotes = ({ tenant, workflowId, hash, registeredAt }: WorkflowRecord): Write[] =>
  [SCHEDULE_SYNC, SUBSCRIPTION_SYNC].map((kind) => ({
    kind: 'putEntry',
    entry: {
      kind,
      tenant,
      id: `${workflowId}@${registeredAt}@${hash}`,
      ref: workflowId,
      dueAt: registeredAt,
      expiresAt: null,
      createdAt: registeredAt,
      body: '{}',
    },
    expectedVersion: null,
  }));

/** What is wrong with the configuration of a trigger; null when it can be used. */
export function configProblem(
  validator: Pick<LazyValidator<TSchema>, 'Check' | 'Errors'>,
  config: unknown,
): string | null {
  if (validator.Check(config)) return null;
  const [first] = validator.Errors(config)[1];
  return `${first?.instancePath || 'config'} ${first?.message ?? 'is not valid'}`;
}

/** I2. Whose records a definition of this tenant makes. */
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

/** I1. `compare` lists the changes that make what is stored follow from the definition. */
export function syncDefinition<T>(
  { store, changes }: SyncOptions,
  note: string,
  { tenant, workflowId }: WorkflowKey,
  compare: (change: Change, current: Current | null) => Promise<T>,
): Promise<T> {
  const runTenant = runTenantOf(tenant);
  return changes.run({ kind: 'system', tenant: runTenant, actor: note }, async (change) => {
    const notes = await notesOf(store.entries, note, new Set([tenant, runTenant]), workflowId);
    const compared = await compare(change, await currentDefinition(store, runTenant, workflowId));
    for (const each of notes) change.delete(each);
    return compared;
  });
}

async function notesOf(
  entries: Store['entries'],
  note: string,
  tenants: ReadonlySet<string>,
  ref: string,
): Promise<Stored<object>[]> {
  const kind: RecordKind<object> = { kind: note, idPrefix: 'note' };
  const lists = [...tenants].map((tenant) => listRecords(entries, kind, tenant, { ref, limit: NOTES_MAX }));
  return (await Promise.all(lists)).flat();
}
