/** Schedules of this process: they fire when due, follow the triggers of workflows, and answer the API. */
import { SCHEDULE_LIMITS, type WorkflowDefinition } from '@gantry/protocol';
import { ResourceService } from '@gantry/resources';
import type { CommitGroup, Store } from '@gantry/store';
import type { Parts } from '../parts.ts';
import { DueClock } from '../runtime/due-clock.ts';
import type { Runtime, Workflows } from '../runtime/runtime.ts';
import { SCHEDULE_SYNC } from '../triggers/definition-sync.ts';
import { type Fired, fire } from './firing.ts';
import { schedules } from './resource.ts';
import { SCHEDULE_KIND } from './schedule.ts';
import { syncTriggers } from './trigger-sync.ts';

const SYNC_RETRY_MS = 1_000;

export interface SchedulesOptions extends Pick<Parts, 'changes' | 'clock' | 'now' | 'log'> {
  readonly store: Pick<Store, 'entries' | 'records' | 'watch'>;
  readonly runtime: Pick<Runtime, 'create'>;
  readonly workflows: Pick<Workflows, 'resolve'>;
}

export type Schedules = ReturnType<typeof createSchedules>;

export function createSchedules(options: SchedulesOptions) {
  const { store, changes, workflows, now, log } = options;
  const fires = new DueClock({
    ...options,
    kind: SCHEDULE_KIND,
    onDue: (entry) => fire(options, entry, now()),
  });
  async function sync(workflow: { tenant: string; workflowId: string }): Promise<void> {
    const leftOut = await syncTriggers(options, workflow);
    if (leftOut > 0)
      log.warn({ ...workflow, leftOut }, 'schedule triggers left out: the tenant has no room for more');
  }
  const syncs = new DueClock({
    ...options,
    kind: SCHEDULE_SYNC,
    onDue: ({ tenant, ref }) => sync({ tenant, workflowId: ref ?? '' }),
  });

  return {
    service: new ResourceService(schedules, { changes, entries: store.entries, now, services: workflows }),
    /** To be called with what this process has committed: some of it may be due. */
    committed: (group: CommitGroup) => fires.committed(group),
    /** To be called after a definition was registered, with its note in that commit (`syncNotes`). */
    async syncTriggers(tenant: string, { id }: Pick<WorkflowDefinition, 'id'>): Promise<void> {
      try {
        await sync({ tenant, workflowId: id });
      } catch (error) {
        // The registration stands, and its note is still there.
        log.warn({ err: error, workflowId: id }, 'the triggers of a workflow are compared again later');
        syncs.note(now() + SYNC_RETRY_MS);
      }
    },
    /** Does what is due now; the clock calls it by itself once started. */
    async tick(): Promise<void> {
      await syncs.run();
      await fires.run();
    },
    /** Fires one schedule as at `at`, whatever the clock says; how many runs came of it. */
    async fireAt(
      { tenant, id }: { readonly tenant: string; readonly id: string },
      at: number,
    ): Promise<number> {
      const runs: Fired[] = [];
      while (runs.length < SCHEDULE_LIMITS.catchUpMax) {
        const entry = await store.entries.get({ kind: SCHEDULE_KIND, tenant, id });
        const fired = entry ? await fire(options, entry, at) : null;
        if (fired?.kind !== 'fired') break;
        runs.push(fired);
      }
      return runs.length;
    },
    async start() {
      await syncs.start();
      await fires.start();
    },
    async stop() {
      await syncs.stop();
      await fires.stop();
    },
  };
}
