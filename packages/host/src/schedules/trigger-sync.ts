/**
 * Keeps the schedules of a workflow equal to the triggers of its current version.
 *
 * I1  Every registration leaves a note in its own commit, due at once. Who works on it compares the stored
 *     schedules with the stored definition and removes the note in the commit of the outcome: a crash in between
 *     only means that it is worked on later, two at once that one of them loses and looks again.
 * I2  Shared definitions run on schedule for one tenant, the default one, unless that has its own of the same id.
 */
import { DEFAULT_TENANT } from '@gantry/http';
import { SCHEDULE_LIMITS, type WorkflowDefinition } from '@gantry/protocol';
import type { Entry, Store, Write } from '@gantry/store';
import canonicalize from 'canonicalize';
import { SHARED } from '../workflows/workflows.ts';
import {
  putSchedule,
  readSchedule,
  SCHEDULE_KIND,
  type ScheduleRecord,
  type StoredSchedule,
} from './schedule.ts';
import { TRIGGER_SYNC_KIND } from './trigger-note.ts';
import { triggerSchedules } from './triggers.ts';

const NOTES_MAX = 100;
const ATTEMPTS_MAX = 5;

type SyncStore = Pick<Store, 'commit' | 'entries' | 'records'>;

export interface Synced {
  /** The earliest tick among the schedules that it put. */
  readonly dueAt: number | null;
  /** Triggers for which the tenant has no schedule left. */
  readonly leftOut: number;
}

export async function syncTriggers(
  store: SyncStore,
  workflow: { readonly tenant: string; readonly workflowId: string },
  now: number,
): Promise<Synced> {
  const { tenant, workflowId } = workflow;
  const runTenant = tenant === SHARED ? DEFAULT_TENANT : tenant;
  for (let attempts = 0; attempts < ATTEMPTS_MAX; attempts++) {
    const notes = await notesOf(store, [tenant, runTenant], workflowId);
    const wanted = await wantedSchedules(store, runTenant, workflowId, now);
    const listed = await store.entries.list(SCHEDULE_KIND, runTenant, {
      ref: workflowId,
      limit: SCHEDULE_LIMITS.perTenantMax,
    });
    const present = listed.map(readSchedule).filter(({ record }) => record.source.kind === 'trigger');
    const room = SCHEDULE_LIMITS.perTenantMax - (await store.entries.count(SCHEDULE_KIND, runTenant));
    const puts = changes(runTenant, wanted, present, now);
    const leftOut = puts.filter(({ expectedVersion }) => expectedVersion === null).slice(Math.max(room, 0));
    const kept = puts.filter((put) => !leftOut.includes(put));
    const writes = [...kept, ...removals(wanted, present), ...notes.map(deletion)];
    const synced = { dueAt: earliest(kept), leftOut: leftOut.length };
    if (writes.length === 0) return synced;
    const [result] = await store.commit([writes]);
    if (result?.won) return synced;
  }
  throw new Error(`the triggers of ${workflowId} kept changing; they are compared again later`);
}

async function notesOf(
  { entries }: SyncStore,
  tenants: readonly string[],
  workflowId: string,
): Promise<Entry[]> {
  const filter = { ref: workflowId, limit: NOTES_MAX };
  const lists = [...new Set(tenants)].map((tenant) => entries.list(TRIGGER_SYNC_KIND, tenant, filter));
  return (await Promise.all(lists)).flat();
}

/** I2. */
async function wantedSchedules(
  { records }: SyncStore,
  tenant: string,
  workflowId: string,
  now: number,
): Promise<Map<string, ScheduleRecord>> {
  const current = await records.workflow(tenant, workflowId);
  if (!current || (current.tenant === SHARED && tenant !== DEFAULT_TENANT)) return new Map();
  const body = await records.definition(current.hash);
  if (body === null) throw new Error(`definition ${current.hash} is missing from the store`);
  const definition: WorkflowDefinition = JSON.parse(body);
  return triggerSchedules(definition, { registeredAt: current.registeredAt, now });
}

type Put = Extract<Write, { kind: 'putEntry' }>;

function changes(
  tenant: string,
  wanted: ReadonlyMap<string, ScheduleRecord>,
  present: readonly StoredSchedule[],
  now: number,
): Put[] {
  const puts: Put[] = [];
  for (const [id, record] of wanted) {
    const before = present.find((schedule) => schedule.id === id);
    if (!before) puts.push(putSchedule({ tenant, id, version: null, createdAt: now }, record, now));
    else if (askedFor(before.record) !== askedFor(record)) {
      const { lastFire, lastError } = before.record;
      const state = before.record.state.status === 'paused' ? before.record.state : record.state;
      puts.push(putSchedule(before, { ...record, state, lastFire, lastError }, now));
    }
  }
  return puts;
}

/** What the definition says of a schedule, without what has become of it since. */
const askedFor = ({ timing, missedTicks, request }: ScheduleRecord): string | undefined =>
  canonicalize({ timing, missedTicks, request });

const deletion = ({ kind, tenant, id, version }: Entry): Write => ({
  kind: 'deleteEntry',
  key: { kind, tenant, id },
  expectedVersion: version,
});

const removals = (wanted: ReadonlyMap<string, ScheduleRecord>, present: readonly StoredSchedule[]): Write[] =>
  present
    .filter(({ id }) => !wanted.has(id))
    .map(({ tenant, id, version }) => ({
      kind: 'deleteEntry',
      key: { kind: SCHEDULE_KIND, tenant, id },
      expectedVersion: version,
    }));

const earliest = (puts: readonly Put[]): number | null => {
  const dues = puts.flatMap(({ entry: { dueAt } }) => (dueAt === null ? [] : [dueAt]));
  return dues.length === 0 ? null : Math.min(...dues);
};
