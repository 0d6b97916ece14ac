/** Cron expressions, read by croner. It only computes times here: its own timers would not outlive the process. */
import { Cron } from 'croner';

const NICKNAMES: ReadonlySet<string> = new Set([
  '@yearly',
  '@annually',
  '@monthly',
  '@weekly',
  '@daily',
  '@hourly',
]);
const FIELDS = ['second', 'minute', 'hour', 'dayOfMonth', 'month', 'dayOfWeek'] as const;

export interface CronIssue {
  /** The part that is wrong, where it is one. */
  readonly part?: (typeof FIELDS)[number];
  readonly problem: string;
}

const open = (expression: string, timezone: string): Cron =>
  new Cron(expression, { timezone, mode: '5-or-6-parts', paused: true });

/** What is wrong with an expression; null when it can be used. */
export function cronIssue(expression: string): CronIssue | null {
  if (NICKNAMES.has(expression)) return null;
  const parts = expression.trim().split(/\s+/);
  if (parts.length !== 5 && parts.length !== 6) {
    return { problem: 'must have five fields (minute hour day month weekday), or six with seconds first' };
  }
  const names = parts.length === 6 ? FIELDS : FIELDS.slice(1);
  for (const [index, name] of names.entries()) {
    // Each field by itself, so that the message names the one that is wrong.
    const alone = names.map((_, other) => (other === index ? parts[index]! : '*')).join(' ');
    const problem = parseProblem(alone);
    if (problem !== null) return { part: name, problem };
  }
  const problem = parseProblem(expression);
  return problem === null ? null : { problem };
}

function parseProblem(expression: string): string | null {
  try {
    open(expression, 'UTC');
    return null;
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return text.replace(/^CronPattern: /, '').replace(/\.$/, '');
  }
}

export function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/**
 * The fire times of a valid expression: the first one after `after`, or null when there is none. When the clock is set
 * back, a local time fires only the first time, unless the expression is of every hour.
 */
export function cronTimes(expression: string, timezone: string): (after: number) => number | null {
  const cron = open(expression, timezone);
  const next = (after: number): number | null => cron.nextRun(new Date(after))?.getTime() ?? null;
  return (after) => {
    const at = next(after);
    const end = at === null ? null : endOfRepeat(at, timezone);
    return end === null || isOfEveryHour(expression) ? at : next(end - 1);
  };
}

const HOURS = 24;

function isOfEveryHour(expression: string): boolean {
  if (NICKNAMES.has(expression)) return expression === '@hourly';
  const hour = expression.trim().split(/\s+/).at(-4);
  const hours = open(`0 ${hour} * * *`, 'UTC').nextRuns(HOURS, new Date('2026-01-01T00:00:00Z'));
  return new Set(hours.map((at) => at.getUTCHours())).size === HOURS;
}

/** The end of the local times that come a second time, if `at` is one of them; croner fires most of them again. */
function endOfRepeat(at: number, timezone: string): number | null {
  const second = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timezone);
  const first = second.toPlainDateTime().toZonedDateTime(timezone, { disambiguation: 'earlier' });
  const repeatedMs = at - first.epochMilliseconds;
  if (repeatedMs === 0) return null;
  return second.add({ nanoseconds: 1 }).getTimeZoneTransition('previous')!.epochMilliseconds + repeatedMs;
}
