/** The times of retries of a durable delivery: exponential, about a day in all. */
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** After the first attempt, the second, ... */
const DELAYS_MS = [
  30 * SECOND,
  2 * MINUTE,
  5 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
] as const;

export const ATTEMPTS_MAX = DELAYS_MS.length + 1;
const JITTER = 0.1;

/** The delay after that many attempts; null after the last. `random` is from 0 to 1. */
export function retryDelayMs(attempts: number, random: number): number | null {
  const delay = DELAYS_MS[attempts - 1];
  return delay === undefined ? null : Math.round(delay * (1 + JITTER * (2 * random - 1)));
}
