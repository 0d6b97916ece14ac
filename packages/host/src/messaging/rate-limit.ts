/** At most `requests` within any `perSeconds`. Pure; the times are kept in the commit of the claim. */
import type { RateLimit } from '@gantry/protocol';
import type { RecordKind } from '@gantry/resources';

const KEPT_MS = 7 * 86_400_000;

/** When a connector has sent, oldest first, within its window: the same for every process. */
export const sendTimes: RecordKind<{ readonly times: readonly number[] }> = {
  kind: 'connector-times',
  idPrefix: 'cnt',
  expiresAt: (_, now) => now + KEPT_MS,
};

/** The times with one more, or when there is room for it. */
export function taken(
  times: readonly number[],
  { requests, perSeconds }: RateLimit,
  now: number,
): { readonly times: readonly number[] } | { readonly until: number } {
  const windowMs = perSeconds * 1_000;
  const recent = times.filter((at) => at > now - windowMs);
  const oldest = recent.at(-requests);
  return oldest === undefined ? { times: [...recent, now] } : { until: oldest + windowMs };
}
