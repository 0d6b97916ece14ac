/** The timing of a schedule as callers ask for it, and its validation. */
import {
  type CreateScheduleRequest,
  invalid,
  type JsonObject,
  OpenwopError,
  SCHEDULE_LIMITS,
  SCHEDULING_CAPABILITY,
} from '@gantry/protocol';
import { cronIssue, isTimezone } from './cron.ts';
import { nextTick, type Timing } from './ticks.ts';

const DAY_MS = 86_400_000;

const notValid = (field: string, problem: string, more: JsonObject = {}): OpenwopError =>
  invalid(`\`${field}\` is not valid: ${problem}.`, { fields: [{ field, problem, ...more }] });

/** Throws for an expression that cannot be read or a time zone that does not exist. */
export function checkCron(cron: string, timezone: string): void {
  const issue = cronIssue(cron);
  if (issue !== null) {
    const { part, problem } = issue;
    throw notValid('cron', part ? `${part}: ${problem}` : problem, part ? { part } : {});
  }
  if (!isTimezone(timezone)) throw notValid('timezone', 'there is no such IANA time zone');
}

/** The first tick of a new schedule. Throws when there is none, or when it lies beyond the horizon. */
export function firstTick(timing: Timing, endAt: number | null, now: number): number {
  const next = timing.kind === 'once' ? timing.at : nextTick(timing, endAt, now);
  const field = timing.kind === 'once' ? 'at' : 'cron';
  if (next === null) throw notValid(field, 'it never fires');
  if (next > now + SCHEDULE_LIMITS.futureHorizonDays * DAY_MS) {
    const { maxFutureHorizon } = SCHEDULING_CAPABILITY;
    throw new OpenwopError('schedule_horizon_exceeded', { details: { maxFutureHorizon } });
  }
  return next;
}

const refused = (message: string, field: string): OpenwopError =>
  invalid(message, { fields: [{ field, problem: message }] });

/** Text that fits the pattern of a time can still be no valid date, such as February 30. */
export function instant(text: string, field: string): number {
  const at = Date.parse(text);
  if (Number.isNaN(at) || !isDay(text.slice(0, 10)))
    throw refused(`\`${field}\` is not a valid date and time.`, field);
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
