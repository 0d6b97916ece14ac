/** Schedules as a resource. A schedule is due at its next tick. */
import {
  type CreateScheduleRequest,
  isoTime,
  type JsonObject,
  MISSED_TICKS_DEFAULT,
  OpenwopError,
  runOwnerOf,
  SCHEDULE_LIMITS,
  type Schedule as ScheduleView,
  schedulesWire,
} from '@gantry/protocol';
import { resource, type Stored } from '@gantry/resources';
import type { ResolvedWorkflow } from '../runtime/runtime.ts';
import { type Admitting, admit, type RunRequest, shownInputs } from '../workflows/admission.ts';
import { nextTick, type Ticking, ticksAfter } from './ticks.ts';
import { checkCron, firstTick, instant, timingOf } from './timing.ts';

/** An ended schedule can still be read for a while. */
export const ENDED_KEPT_MS = 30 * 86_400_000;
const TIMES_DEFAULT = 10;

export type ScheduleState =
  | { readonly status: 'active'; readonly nextAt: number; readonly caughtUp: number }
  | { readonly status: 'paused' }
  | { readonly status: 'ended' };

export type ScheduleSource =
  | { readonly kind: 'api'; readonly principal: string }
  | { readonly kind: 'trigger'; readonly triggerId: string };

export interface ScheduleRecord extends Omit<Ticking, 'nextAt' | 'caughtUp'> {
  readonly request: RunRequest;
  readonly source: ScheduleSource;
  readonly state: ScheduleState;
  readonly lastFire: {
    readonly scheduledFor: number;
    readonly firedAt: number;
    readonly runId: string;
  } | null;
  readonly lastError: {
    readonly scheduledFor: number;
    readonly failedAt: number;
    readonly code: string;
    readonly message: string;
    /** Ticks in a row that started no run. */
    readonly failures: number;
  } | null;
}

/** Waits for `nextAt`, or has ended when there is none. */
export const stateAt = (nextAt: number | null, caughtUp = 0): ScheduleState =>
  nextAt === null ? { status: 'ended' } : { status: 'active', nextAt, caughtUp };

type Services = Admitting;

const refuse = (message: string): never => {
  throw new OpenwopError('conflict', { message });
};

const mustGoOn = ({ state }: ScheduleRecord): void => {
  if (state.status === 'ended') refuse('The schedule has ended.');
};

export const schedules = resource<typeof schedulesWire, ScheduleRecord, undefined, Services>(schedulesWire, {
  kind: 'schedule',
  idPrefix: 'sch',
  max: SCHEDULE_LIMITS.perTenantMax,
  index: { workflowId: ({ request }) => request.workflowId },
  dueAt: ({ state }) => (state.status === 'active' ? state.nextAt : null),
  expiresAt: ({ state }, now) => (state.status === 'ended' ? now + ENDED_KEPT_MS : null),

  // A request that cannot become a run is refused now, not at its first tick.
  prepare: async (input, workflows, caller) =>
    void (await admit(workflows, runOwnerOf(caller), requestOf(input))),
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
      source: { kind: 'api', principal: caller.actor },
    };
  },
  verbs: {
    pause(schedule) {
      mustGoOn(schedule);
      return { ...schedule, state: { status: 'paused' } };
    },
    /** Ticks during the pause are skipped, whatever `missedTicks` says. */
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
      refuse(
        `Trigger ${source.triggerId} of the workflow defines this schedule. Pause it, or disable the trigger.`,
      );
  },
  show: async (stored, workflows) =>
    viewOf(stored, await workflows.resolve(stored.tenant, stored.record.request.workflowId)),
});

function requestOf(body: CreateScheduleRequest): RunRequest {
  const { workflowId, inputs = {}, configurable = {}, tags = [], metadata = {} } = body;
  return {
    workflowId,
    tags,
    inputs: inputs as JsonObject,
    configurable: configurable as JsonObject,
    metadata: metadata as JsonObject,
  };
}

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
