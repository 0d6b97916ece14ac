/** When a delivery that could not start its run is tried again. */
import { DEFAULT_RETRY_POLICY, type TriggerRetryPolicy } from '@gantry/protocol';

const FIXED_MS = 10_000;
const FIRST_MS = 5_000;
const LONGEST_MS = 3_600_000;
const JITTER = 0.1;

export type RetryPolicy = Required<TriggerRetryPolicy>;

export const retryPolicyOf = (wanted: TriggerRetryPolicy = {}): RetryPolicy => ({
  ...DEFAULT_RETRY_POLICY,
  ...wanted,
});

/** How long to wait after that many attempts; null when it was the last. `random` is from 0 to 1. */
export function retryDelayMs(policy: RetryPolicy, attempts: number, random: number): number | null {
  if (attempts >= policy.maxAttempts) return null;
  const spread = 1 + JITTER * (2 * random - 1);
  switch (policy.backoff) {
    case 'none':
      return 0;
    case 'fixed':
      return Math.round(FIXED_MS * spread);
    case 'exponential':
      return Math.round(Math.min(LONGEST_MS, FIRST_MS * 2 ** (attempts - 1)) * spread);
  }
}
