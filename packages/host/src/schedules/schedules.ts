/** Schedules of this process: their API, and the clock that fires them. */
import { SCHEDULE_LIMITS } from '@gantry/protocol';
import { ResourceService, readRecord } from '@gantry/resources';
import type { CommitGroup, Store } from '@gantry/store';
import type { Parts } from '../parts.ts';
import { DueClock } from '../runtime/due-clock.ts';
import { type FiringOptions, fire } from './firing.ts';
import { schedules } from './schedule.ts';

export interface SchedulesOptions extends FiringOptions, Pick<Parts, 'clock' | 'now'> {
  readonly store: Pick<Store, 'entries' | 'watch'>;
}

export type Schedules = ReturnType<typeof createSchedules>;

export function createSchedules(options: SchedulesOptions) {
  const { store, changes, workflows, now } = options;
  const clock = new DueClock({
    ...options,
    kind: schedules,
    onDue: (schedule) => fire(options, schedule, now()),
  });

  return {
    service: new ResourceService(schedules, { changes, entries: store.entries, now, services: workflows }),
    /** To be called with what this process has committed: some of it may be due. */
    committed: (group: CommitGroup) => clock.committed(group),
    /** Does what is due now; the clock calls it by itself once started. */
    tick: () => clock.run(),
    /** Fires one schedule as if it were `at`; answers how many runs were started. */
    async fireAt(
      { tenant, id }: { readonly tenant: string; readonly id: string },
      at: number,
    ): Promise<number> {
      for (let runs = 0; ; runs++) {
        const schedule =
          runs < SCHEDULE_LIMITS.catchUpMax && (await readRecord(store.entries, schedules, tenant, id));
        if (!schedule || !(await fire(options, schedule, at))) return runs;
      }
    },
    start: () => clock.start(),
    stop: () => clock.stop(),
  };
}
