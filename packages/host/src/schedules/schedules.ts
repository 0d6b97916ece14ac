/** Schedules of this process: their API, and the clock that fires them. */
import { SCHEDULE_LIMITS } from '@gantry/protocol';
import { ResourceService } from '@gantry/resources';
import type { CommitGroup, Store } from '@gantry/store';
import type { Parts } from '../parts.ts';
import { DueClock } from '../runtime/due-clock.ts';
import type { Runtime, Workflows } from '../runtime/runtime.ts';
import { type Fired, fire } from './firing.ts';
import { schedules } from './resource.ts';
import { SCHEDULE_KIND } from './schedule.ts';

export interface SchedulesOptions extends Pick<Parts, 'changes' | 'clock' | 'now' | 'log'> {
  readonly store: Pick<Store, 'entries' | 'watch'>;
  readonly runtime: Pick<Runtime, 'create'>;
  readonly workflows: Pick<Workflows, 'resolve'>;
}

export type Schedules = ReturnType<typeof createSchedules>;

export function createSchedules(options: SchedulesOptions) {
  const { store, changes, workflows, now } = options;
  const clock = new DueClock({
    ...options,
    kind: SCHEDULE_KIND,
    onDue: (entry) => fire(options, entry, now()),
  });

  return {
    service: new ResourceService(schedules, { changes, entries: store.entries, now, services: workflows }),
    /** To be called with what this process has committed: some of it may be due. */
    committed: (group: CommitGroup) => clock.committed(group),
    /** Does what is due now; the clock calls it by itself once started. */
    tick: () => clock.run(),
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
    start: () => clock.start(),
    stop: () => clock.stop(),
  };
}
