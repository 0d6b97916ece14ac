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
import { type Change, type Changes, fromEntry } from '@gantry/resources';
import type { Entry, Store } from '@gantry/store';
import canonicalize from 'canonicalize';
import { SHARED } from '../workflows/workflows.ts';
import { schedules } from './resource.ts';
import { SCHEDULE_KIND, type ScheduleRecord } from './schedule.ts';
import { TRIGGER_SYNC_KIND, triggerNotes } from './trigger-note.ts';
import { triggerSchedules } from './triggers.ts';

const NOTES_MAX = 100;
const { perTenantMax } = SCHEDULE_LIMITS;

type SyncStore = Pick<Store, 'entries' | 'records'>;

/** How many triggers were left out: the tenant has no room for more schedules. */
export function syncTriggers(
  { store, changes }: { readonly store: SyncStore; readonly changes: Pick<Changes, 'run'> },
  { tenant, workflowId }: { readonly tenant: string; readonly workflowId: string },
): Promise<number> {
  const runTenant = tenant === SHARED ? DEFAULT_TENANT : tenant;
  return changes.run({ kind: 'system', tenant: runTenant, actor: 'schedules' }, async (change) => {
    const notes = await notesOf(store, [tenant, runTenant], workflowId);
    const wanted = await wantedSchedules(store, runTenant, workflowId, change.now);
    const listed = await store.entries.list(SCHEDULE_KIND, runTenant, {
      index: { name: 'workflowId', value: workflowId },
      limit: perTenantMax,
    });
    for (const stored of listed.map((entry) => fromEntry(schedules, entry)))
      if (stored.record.source.kind === 'trigger' && !wanted.has(stored.id)) change.delete(stored);
    const room = perTenantMax - (await store.entries.count(SCHEDULE_KIND, runTenant));
    for (const note of notes) change.delete(fromEntry(triggerNotes, note));
    return putWanted(change, wanted, room);
  });
}

async function putWanted(
  change: Change,
  wanted: ReadonlyMap<string, ScheduleRecord>,
  room: number,
): Promise<number> {
  let missing = 0;
  for (const [id, record] of wanted) {
    const before = await change.find(schedules, id);
    if (!before) {
      if (missing++ < room) change.create(schedules, record, id);
    } else if (askedFor(before.record) !== askedFor(record)) {
      const { lastFire, lastError } = before.record;
      const state = before.record.state.status === 'paused' ? before.record.state : record.state;
      change.replace(before, { ...record, state, lastFire, lastError });
    }
  }
  return Math.max(missing - Math.max(room, 0), 0);
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

/** What the definition says of a schedule, without what has become of it since. */
const askedFor = ({ timing, missedTicks, request }: ScheduleRecord): string | undefined =>
  canonicalize({ timing, missedTicks, request });
