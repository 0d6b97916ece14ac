const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** The time until `at` in words: `in 3 minutes`. */
export function inTime(at: number, now: number): string {
  const ms = at - now;
  if (ms <= 0) return 'now';
  if (ms < 1_000) return `in ${ms} ms`;
  if (ms < 2 * MINUTE_MS) return `in ${Math.round(ms / 100) / 10} s`;
  if (ms < 2 * HOUR_MS) return `in ${Math.round(ms / MINUTE_MS)} minutes`;
  return ms < 2 * DAY_MS ? `in ${Math.round(ms / HOUR_MS)} hours` : `in ${Math.round(ms / DAY_MS)} days`;
}
