/** When a schedule fires. Pure: time comes in as a number. */
import { type MissedTicks, SCHEDULE_LIMITS } from '@gantry/protocol';
import { cronTimes } from './cron.ts';

export type Timing =
  | { readonly kind: 'cron'; readonly cron: string; readonly timezone: string }
  | { readonly kind: 'once'; readonly at: number };

export interface Ticking {
  readonly timing: Timing;
  /** No tick after it; null for no end. */
  readonly endAt: number | null;
  readonly missedTicks: MissedTicks;
  /** The tick it waits for. */
  readonly nextAt: number;
  /** Missed ticks fired since it was last on time. */
  readonly caughtUp: number;
}

/** What to do with a due schedule: the tick to fire, if any, and the next one (null: the schedule has ended). */
export interface DueTick {
  readonly fire: number | null;
  readonly nextAt: number | null;
  readonly caughtUp: number;
}

/** A tick older than this counts as missed; a busy host is late by far less. */
export const MISSED_AFTER_MS = 30_000;

/** The first tick after `after`. */
export function nextTick(timing: Timing, endAt: number | null, after: number): number | null {
  const next = timesOf(timing)(after);
  return next === null || (endAt !== null && next > endAt) ? null : next;
}

/** The first `count` ticks after `after`. */
export function ticksAfter(timing: Timing, endAt: number | null, after: number, count: number): number[] {
  const times = timesOf(timing);
  const ticks: number[] = [];
  for (let at = times(after); at !== null && ticks.length < count; at = times(at)) {
    if (endAt !== null && at > endAt) break;
    ticks.push(at);
  }
  return ticks;
}

const timesOf = (timing: Timing): ((after: number) => number | null) =>
  timing.kind === 'cron'
    ? cronTimes(timing.cron, timing.timezone)
    : (after) => (timing.at > after ? timing.at : null);

/** Only for a schedule whose `nextAt` is in the past. */
export function dueTick(schedule: Ticking, now: number): DueTick {
  const { timing, endAt, missedTicks } = schedule;
  if (missedTicks === 'catch-up') return catchUp(schedule, now);
  const last = lastTick(schedule, now);
  const isMissed = now - last > MISSED_AFTER_MS;
  const fire = missedTicks === 'skip' && isMissed ? null : last;
  return { fire, nextAt: nextTick(timing, endAt, now), caughtUp: 0 };
}

/** Oldest first, one at a time, so that each is a commit of its own; past the limit the rest is skipped. */
function catchUp({ timing, endAt, nextAt, caughtUp }: Ticking, now: number): DueTick {
  const following = nextTick(timing, endAt, nextAt);
  if (following === null || following > now) return { fire: nextAt, nextAt: following, caughtUp: 0 };
  if (caughtUp + 1 < SCHEDULE_LIMITS.catchUpMax) {
    return { fire: nextAt, nextAt: following, caughtUp: caughtUp + 1 };
  }
  return { fire: nextAt, nextAt: nextTick(timing, endAt, now), caughtUp: 0 };
}

/**
 * The latest tick in the past, by binary search: some 30 steps, where a linear search takes one for every second that
 * the host was down.
 */
function lastTick({ timing, endAt, nextAt }: Ticking, now: number): number {
  const times = timesOf(timing);
  const end = endAt === null ? now : Math.min(now, endAt);
  let last = nextAt;
  let before = end;
  while (before - last > 1_000) {
    const middle = last + Math.floor((before - last) / 2);
    const found = times(middle);
    if (found !== null && found <= end) last = found;
    else before = middle;
  }
  const found = times(last);
  return found !== null && found <= end ? found : last;
}
