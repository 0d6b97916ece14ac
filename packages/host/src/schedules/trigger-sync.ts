/** Keeps the schedules of a workflow equal to the schedule triggers of its current version. */
import { SCHEDULE_LIMITS } from '@gantry/protocol';
import { fromEntry } from '@gantry/resources';
import canonicalize from 'canonicalize';
import {
  runTenantOf,
  SCHEDULE_SYNC,
  type SyncOptions,
  syncDefinition,
  type WorkflowKey,
} from '../triggers/definition-sync.ts';
import { schedules } from './resource.ts';
import type { ScheduleRecord } from './schedule.ts';
import { triggerSchedules } from './triggers.ts';

const { perTenantMax } = SCHEDULE_LIMITS;

/** How many triggers were left out: the tenant has no room for more schedules. */
export const syncTriggers = (options: SyncOptions, workflow: WorkflowKey): Promise<number> =>
  syncDefinition(options, SCHEDULE_SYNC, workflow, async (change, current) => {
    const { entries } = options.store;
    const tenant = runTenantOf(workflow.tenant);
    const wanted = current
      ? triggerSchedules(current.definition, { registeredAt: current.registeredAt, now: change.now })
      : new Map<string, ScheduleRecord>();
    const index = { name: 'workflowId', value: workflow.workflowId };
    for (const entry of await entries.list(schedules.kind, tenant, { index, limit: perTenantMax })) {
      const schedule = fromEntry(schedules, entry);
      if (schedule.record.source.kind === 'trigger' && !wanted.has(schedule.id)) change.delete(schedule);
    }
    const room = Math.max(perTenantMax - (await entries.count(schedules.kind, tenant)), 0);
    let missing = 0;
    for (const [id, record] of wanted) {
      const before = await change.find(schedules, id);
      if (!before) {
        if (missing++ < room) change.create(schedules, record, id);
      } else if (askedFor(before.record) !== askedFor(record)) {
        const { lastFire, lastError, state } = before.record;
        change.replace(before, {
          ...record,
          lastFire,
          lastError,
          ...(state.status === 'paused' && { state }),
        });
      }
    }
    return Math.max(missing - room, 0);
  });

/** What the definition says of a schedule, without what has become of it since. */
const askedFor = ({ timing, missedTicks, request }: ScheduleRecord): string | undefined =>
  canonicalize({ timing, missedTicks, request });
