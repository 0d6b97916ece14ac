/** Schedules as a resource: what callers may do with them. A schedule is due at its next tick. */
import {
  isoTime,
  MISSED_TICKS_DEFAULT,
  OpenwopError,
  SCHEDULE_LIMITS,
  type Schedule as ScheduleView,
  schedulesWire,
} from '@gantry/protocol';
import { resource, type Stored } from '@gantry/resources';
import type { ResolvedWorkflow, Workflows } from '../runtime/runtime.ts';
import { admit, shownInputs } from '../workflows/admission.ts';
import {
  checkCron,
  ENDED_KEPT_MS,
  firstTick,
  instant,
  requestOf,
  SCHEDULE_KIND,
  type ScheduleRecord,
  stateAt,
  timingOf,
} from './schedule.ts';
import { nextTick, ticksAfter } from './ticks.ts';

const TIMES_DEFAULT = 10;

type Services = Pick<Workflows, 'resolve'>;

const refuse = (message: string): never => {
  throw new OpenwopError('conflict', { message });
};

const mustGoOn = ({ state }: ScheduleRecord): void => {
  if (state.status === 'ended') refuse('The schedule has ended.');
};

export const schedules = resource<typeof schedulesWire, ScheduleRecord, undefined, Services>(schedulesWire, {
  kind: SCHEDULE_KIND,
  idPrefix: 'sch',
  max: SCHEDULE_LIMITS.perTenantMax,
  index: { workflowId: ({ request }) => request.workflowId },
  dueAt: ({ state }) => (state.status === 'active' ? state.nextAt : null),
  expiresAt: ({ state }, now) => (state.status === 'ended' ? now + ENDED_KEPT_MS : null),

  // What no run can come of is better refused now than at three in the morning.
  prepare: async (input, workflows, { tenant, actor }) =>
    void (await admit(workflows, { tenant, principal: actor }, requestOf(input))),
  create(input, _, { now, caller }) {
    const timing = timingOf(input, now);
    const endAt = input.endAt === undefined ? null : instant(input.endAt, 'endAt');
    return {
      timing,
      endAt,
      state: stateAt(firstTick(timing, endAt, now)),
      request: requestOf(input),
      lastFire: null,
      lastError: null,
      missedTicks: input.missedTicks ?? MISSED_TICKS_DEFAULT,
      source: { kind: 'api', keyId: caller.actor },
    };
  },
  verbs: {
    pause(schedule) {
      mustGoOn(schedule);
      return { ...schedule, state: { status: 'paused' } };
    },
    /** Ticks that passed meanwhile stay passed: a pause is no outage. */
    resume(schedule, _, { now }) {
      mustGoOn(schedule);
      if (schedule.state.status === 'active') return schedule;
      return { ...schedule, state: stateAt(nextTick(schedule.timing, schedule.endAt, now)) };
    },
  },
  reads: {
    next({ state, timing, endAt }, { count = TIMES_DEFAULT }, { now }) {
      if (state.status !== 'active') return { times: [] };
      return { times: ticksAfter(timing, endAt, Math.max(now, state.nextAt - 1), count).map(isoTime) };
    },
  },
  all: {
    preview({ cron, timezone = 'UTC', count = TIMES_DEFAULT }, { now }) {
      checkCron(cron, timezone);
      return { times: ticksAfter({ kind: 'cron', cron, timezone }, null, now, count).map(isoTime) };
    },
  },
  remove({ source }) {
    if (source.kind === 'trigger')
      refuse(`It belongs to trigger ${source.triggerId} of its workflow. Pause it, or disable the trigger.`);
  },
  show: async (stored, workflows) =>
    viewOf(stored, await workflows.resolve(stored.tenant, stored.record.request.workflowId)),
});

const isoTimes = <K extends string>(of: Readonly<Record<K, number>>, ...names: readonly K[]) =>
  Object.fromEntries(names.map((name) => [name, isoTime(of[name])])) as Record<K, string>;

function viewOf(
  { id, createdAt, record }: Stored<ScheduleRecord>,
  workflow: ResolvedWorkflow | null,
): ScheduleView {
  const { request, timing, endAt, missedTicks, source, state, lastFire, lastError } = record;
  return {
    scheduleId: id,
    workflowId: request.workflowId,
    status: state.status,
    ...(timing.kind === 'cron'
      ? { cron: timing.cron, timezone: timing.timezone }
      : { at: isoTime(timing.at) }),
    ...(endAt !== null && { endAt: isoTime(endAt) }),
    missedTicks,
    ...(source.kind === 'trigger' && { triggerId: source.triggerId }),
    inputs: shownInputs(workflow, request.inputs),
    configurable: request.configurable,
    tags: [...request.tags],
    metadata: request.metadata,
    createdAt: isoTime(createdAt),
    ...(state.status === 'active' && { nextFireAt: isoTime(state.nextAt) }),
    ...(lastFire && { lastFire: { ...lastFire, ...isoTimes(lastFire, 'scheduledFor', 'firedAt') } }),
    ...(lastError && { lastError: { ...lastError, ...isoTimes(lastError, 'scheduledFor', 'failedAt') } }),
  };
}
