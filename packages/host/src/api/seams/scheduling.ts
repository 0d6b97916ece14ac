/** Ticks of a real schedule at given times. */
import type { Api } from '@gantry/http';
import { personCaller } from '@gantry/resources';
import Type from 'typebox';
import type { Schedules } from '../../schedules/schedules.ts';
import type { ApiDeps } from '../context.ts';
import { noop, seamId } from './definition.ts';
import { seam } from './seam.ts';

/** So rare that a tick of the host's clock during the test is unlikely. */
const CRON = '0 0 1 * *';
const MISSED_DEFAULT = 3;
const MISSED_MAX = 99;

const Tick = Type.Object({
  scenario: Type.Enum(['single-tick', 'missed-window']),
  missedTicks: Type.Optional(Type.Integer({ minimum: 1, maximum: MISSED_MAX })),
});

export type SeamSchedules = Pick<Schedules, 'service' | 'fireAt'>;

export function schedulingSeam(app: Api, { workflows }: ApiDeps, schedules: SeamSchedules): void {
  seam(app, 'scheduling/tick', Tick, async (sender, tick) => {
    const { scenario, missedTicks = MISSED_DEFAULT } = tick;
    const caller = personCaller(sender);
    const { tenant } = sender;
    const { workflowId } = await workflows.register(tenant, noop(seamId('scheduled')));
    const ticks = scenario === 'single-tick' ? 1 : missedTicks + 1;
    const endAt = schedules.service.all('preview', { cron: CRON, count: ticks }).times.at(-1)!;
    // The schedule ends with its last tick, in case this process dies before removing it.
    const { view } = await schedules.service.create(caller, { workflowId, cron: CRON, endAt });
    const { scheduleId: id } = view;
    try {
      const fire = () => schedules.fireAt({ tenant, id }, Date.parse(endAt));
      // Fire twice at once, as two processes would: there must be one tick.
      const fired = await Promise.all([fire(), fire()]);
      return { runsFired: fired.reduce((sum, count) => sum + count) };
    } finally {
      await schedules.service.remove(caller, id);
    }
  });
}
