import { schedulesWire } from '@gantry/protocol';
import { unknownInputsOf } from '../api/unknown-names.ts';
import { feature } from '../feature.ts';
import { schedules } from './schedule.ts';
import { createSchedules, type SchedulesOptions } from './schedules.ts';

export const schedulesFeature = feature({
  name: 'schedules',
  kinds: [schedules],
  open: (parts: SchedulesOptions) => createSchedules(parts),
  resources: ({ service }, { workflows }) => [[schedulesWire, service, unknownInputsOf(workflows)]],
});
