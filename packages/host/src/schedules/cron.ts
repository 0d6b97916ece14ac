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

/** The fire times of a valid expression: the first one after `after`, or null when there is none. */
export function cronTimes(expression: string, timezone: string): (after: number) => number | null {
  const cron = open(expression, timezone);
  return (after) => cron.nextRun(new Date(after))?.getTime() ?? null;
}
