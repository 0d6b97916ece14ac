/** What is kept of a schedule, and what is refused. */
import {
  type CreateScheduleRequest,
  type JsonObject,
  OpenwopError,
  SCHEDULE_LIMITS,
  SCHEDULING_CAPABILITY,
} from '@gantry/protocol';
import type { RunRequest } from '../workflows/admission.ts';
import { cronIssue, isTimezone } from './cron.ts';
import { nextTick, type Ticking, type Timing } from './ticks.ts';

export const SCHEDULE_KIND = 'schedule';
const DAY_MS = 86_400_000;
/** An ended schedule can still be looked at for a while. */
export const ENDED_KEPT_MS = 30 * DAY_MS;

export type ScheduleState =
  | { readonly status: 'active'; readonly nextAt: number; readonly caughtUp: number }
  | { readonly status: 'paused' }
  | { readonly status: 'ended' };

export type ScheduleSource =
  | { readonly kind: 'api'; readonly keyId: string }
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
  } | null;
}

/** Waits for `nextAt`, or has ended when there is none. */
export const stateAt = (nextAt: number | null, caughtUp = 0): ScheduleState =>
  nextAt === null ? { status: 'ended' } : { status: 'active', nextAt, caughtUp };

const invalid = (field: string, problem: string, more: JsonObject = {}): OpenwopError =>
  new OpenwopError('validation_error', {
    message: `\`${field}\` is not valid: ${problem}.`,
    details: { fields: [{ field, problem, ...more }] },
  });

/** Refuses expressions that can't be read, zones that do not exist. */
export function checkCron(cron: string, timezone: string): void {
  const issue = cronIssue(cron);
  if (issue !== null) {
    const { part, problem } = issue;
    throw invalid('cron', part ? `${part}: ${problem}` : problem, part ? { part } : {});
  }
  if (!isTimezone(timezone)) throw invalid('timezone', 'there is no such IANA time zone');
}

/** The first tick of a new schedule. Throws when there is none, or when it lies beyond the horizon. */
export function firstTick(timing: Timing, endAt: number | null, now: number): number {
  const next = timing.kind === 'once' ? timing.at : nextTick(timing, endAt, now);
  const field = timing.kind === 'once' ? 'at' : 'cron';
  if (next === null) throw invalid(field, 'it never fires');
  if (next > now + SCHEDULE_LIMITS.futureHorizonDays * DAY_MS) {
    const { maxFutureHorizon } = SCHEDULING_CAPABILITY;
    throw new OpenwopError('schedule_horizon_exceeded', { details: { maxFutureHorizon } });
  }
  return next;
}

const refused = (message: string, field: string): OpenwopError =>
  new OpenwopError('validation_error', { message, details: { fields: [{ field, problem: message }] } });

/** An instant that fits its pattern can still be no day of the calendar. */
export function instant(text: string, field: string): number {
  const at = Date.parse(text);
  if (Number.isNaN(at) || !isDay(text.slice(0, 10)))
    throw refused(`\`${field}\` is no time of the calendar.`, field);
  return at;
}

/** `Date.parse` takes 30 February for 2 March. */
const isDay = (text: string): boolean => new Date(`${text}T00:00:00Z`).toISOString().startsWith(text);

type WantedTiming = Pick<CreateScheduleRequest, 'cron' | 'timezone' | 'at' | 'delayMs'>;

export function timingOf({ cron, at, delayMs, timezone }: WantedTiming, now: number): Timing {
  const given = [cron, at, delayMs].filter((value) => value !== undefined).length;
  if (given !== 1) throw refused('Give exactly one of `cron`, `at` and `delayMs`.', 'cron');
  if (cron !== undefined) {
    checkCron(cron, timezone ?? 'UTC');
    return { kind: 'cron', cron, timezone: timezone ?? 'UTC' };
  }
  if (timezone !== undefined) throw refused('`timezone` belongs to `cron`.', 'timezone');
  return { kind: 'once', at: at === undefined ? now + (delayMs ?? 0) : instant(at, 'at') };
}

export function requestOf(body: CreateScheduleRequest): RunRequest {
  const { workflowId, inputs = {}, configurable = {}, tags = [], metadata = {} } = body;
  return {
    workflowId,
    tags,
    inputs: inputs as JsonObject,
    configurable: configurable as JsonObject,
    metadata: metadata as JsonObject,
  };
}
