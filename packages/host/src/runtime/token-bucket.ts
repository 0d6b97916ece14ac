/**
 * At most `requests` at once, refilled evenly over `perSeconds`; shared by all processes. The counter holds the time,
 * in microseconds, at which the bucket will be full again, so one write takes a token or loses.
 */
import type { RateLimit } from '@gantry/protocol';
import type { EntryKey, Write } from '@gantry/store';

const US_PER_MS = 1_000;
const US_PER_SECOND = 1_000_000;
/** After this time a bucket is deleted, and so full. */
const KEPT_MS = 86_400_000;

const tokenUs = ({ requests, perSeconds }: RateLimit): number =>
  Math.round((perSeconds * US_PER_SECOND) / requests);

/** Loses with `full` when there is no token. */
export function takeToken(limit: RateLimit, key: EntryKey, now: number): Write {
  const delta = tokenUs(limit);
  const floor = Math.round(now) * US_PER_MS;
  const expiresAt = now + Math.max(KEPT_MS, limit.perSeconds * US_PER_MS);
  return { kind: 'adjust', key, delta, floor, max: floor + delta * limit.requests, expiresAt };
}

/** The time until the next token, by the value of the counter. */
export const untilTokenMs = (limit: RateLimit, value: number, now: number): number =>
  Math.max(1, Math.ceil((value - tokenUs(limit) * (limit.requests - 1)) / US_PER_MS - now));
