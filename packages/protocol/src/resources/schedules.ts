/** Time-based run initiation (host.scheduling): requests and responses. */
import Type, { type Static } from 'typebox';
import { CreateRunRequest } from '../run.ts';
import { closedObject, INSTANT_PATTERN, optional, Values } from '../schema.ts';
import { wire } from '../wire.ts';

export const SCHEDULE_LIMITS = {
  perTenantMax: 1_000,
  cronLengthMax: 128,
  timezoneLengthMax: 64,
  timesMax: 100,
  /** Missed ticks that `catch-up` fires after one outage. */
  catchUpMax: 100,
  /** Five years, which always include a leap day. */
  futureHorizonDays: 1_830,
} as const;

/** `scheduling` of the discovery document. */
export const SCHEDULING_CAPABILITY = {
  supported: true,
  cron: true,
  delayed: true,
  calendar: false,
  maxFutureHorizon: `P${SCHEDULE_LIMITS.futureHorizonDays}D`,
} as const;

const MISSED_TICKS = ['skip', 'fire-once', 'catch-up'] as const;

/** The policy for ticks that were missed while no host was running. */
export const MissedTicks = Type.Enum([...MISSED_TICKS]);
export type MissedTicks = Static<typeof MissedTicks>;

export const MISSED_TICKS_DEFAULT: MissedTicks = 'fire-once';

/**
 * The protocol requires hosts to advertise policies for missed ticks, but its `scheduling` is closed, so this is a
 * family of this host.
 */
export const MISSED_TICKS_CAPABILITY = {
  missedTicks: {
    policies: MISSED_TICKS,
    default: MISSED_TICKS_DEFAULT,
    catchUpMax: SCHEDULE_LIMITS.catchUpMax,
  },
} as const;

export const Cron = Type.String({ minLength: 1, maxLength: SCHEDULE_LIMITS.cronLengthMax });
export const Timezone = Type.String({ minLength: 1, maxLength: SCHEDULE_LIMITS.timezoneLengthMax });
const DelayMs = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
/** With an offset: without one, the time would depend on the machine. */
export const Instant = Type.String({ maxLength: 40, pattern: INSTANT_PATTERN });

/** The options of runs of a schedule or heartbeat, besides their workflow. */
export const runOptionFields = {
  inputs: optional(Values),
  configurable: optional(Values),
  tags: CreateRunRequest.properties.tags,
  metadata: optional(Values),
};

/** Exactly one of `cron`, `at` and `delayMs`. */
export const CreateScheduleRequest = closedObject({
  workflowId: Type.String({ minLength: 1, maxLength: 128 }),
  cron: optional(Cron),
  timezone: optional(Timezone),
  at: optional(Instant),
  delayMs: optional(DelayMs),
  endAt: optional(Instant),
  missedTicks: optional(MissedTicks),
  ...runOptionFields,
});
export type CreateScheduleRequest = Static<typeof CreateScheduleRequest>;

/**
 * `config` of a workflow trigger of type `schedule`: `cron`, or `delayMs` for one run with that delay after each
 * registration of a new version.
 */
export const ScheduleTriggerConfig = closedObject({
  cron: optional(Cron),
  timezone: optional(Timezone),
  delayMs: optional(DelayMs),
  inputs: optional(Values),
  missedTicks: optional(MissedTicks),
});

export const Schedule = Type.Object({
  scheduleId: Type.String(),
  workflowId: Type.String(),
  status: Type.Enum(['active', 'paused', 'ended']),
  cron: optional(Type.String()),
  timezone: optional(Type.String()),
  at: optional(Type.String()),
  endAt: optional(Type.String()),
  missedTicks: MissedTicks,
  /** The workflow trigger that it was created from; absent if created over the API. */
  triggerId: optional(Type.String()),
  inputs: Values,
  configurable: Values,
  tags: Type.Array(Type.String()),
  metadata: Values,
  createdAt: Type.String(),
  nextFireAt: optional(Type.String()),
  lastFire: optional(
    Type.Object({ scheduledFor: Type.String(), firedAt: Type.String(), runId: Type.String() }),
  ),
  lastError: optional(
    Type.Object({
      scheduledFor: Type.String(),
      failedAt: Type.String(),
      code: Type.String(),
      message: Type.String(),
      /** Ticks in a row that started no run. */
      failures: Type.Integer(),
    }),
  ),
});
export type Schedule = Static<typeof Schedule>;

const Count = optional(Type.Integer({ minimum: 1, maximum: SCHEDULE_LIMITS.timesMax }));
export const PreviewRequest = closedObject({ cron: Cron, timezone: optional(Timezone), count: Count });
export const FireTimes = Type.Object({ times: Type.Array(Type.String()) });

export const schedulesWire = wire(
  {
    path: 'schedules',
    id: 'scheduleId',
    item: { pause: 'write', resume: 'write', next: 'read' },
    all: { preview: 'read' },
  },
  {
    about: 'Start runs of a workflow by the clock',
    scopes: { read: ['runs:read'], write: ['runs:create'] },
    input: CreateScheduleRequest,
    view: Schedule,
    feed: true,
    methods: {
      pause: { about: 'Skip the ticks of a schedule until it is resumed', in: closedObject({}) },
      resume: { about: 'Let a paused schedule fire again', in: closedObject({}) },
      next: {
        about: 'The next fire times of a schedule',
        in: closedObject({ count: Count }),
        out: FireTimes,
      },
      preview: { about: 'The next fire times of a cron expression', in: PreviewRequest, out: FireTimes },
    },
  },
);
