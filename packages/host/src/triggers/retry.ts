/** When a run that could not be started is tried again. */
import { DEFAULT_RETRY_POLICY, OpenwopError, type TriggerRetryPolicy } from '@gantry/protocol';
import { Contended } from '@gantry/resources';
import { isFinal } from '../workflows/admission.ts';

const FIXED_MS = 10_000;
const FIRST_MS = 5_000;
const LONGEST_MS = 3_600_000;
const JITTER = 0.1;

export type RetryPolicy = Required<TriggerRetryPolicy>;

export const retryPolicyOf = (wanted: TriggerRetryPolicy = {}): RetryPolicy => ({
  ...DEFAULT_RETRY_POLICY,
  ...wanted,
});

export type Failure =
  | { readonly kind: 'again'; readonly code: string; readonly delayMs: number }
  /** The run is never started. */
  | { readonly kind: 'over'; readonly reason: string; readonly isExhausted: boolean };

/** What follows when a run could not be started. Throws errors that say nothing about the run. `random` is from 0 to 1. */
export function failureOf(error: unknown, policy: RetryPolicy, attempts: number, random: number): Failure {
  if (!(error instanceof OpenwopError) || error instanceof Contended) throw error;
  const { code } = error;
  if (isFinal(error)) return { kind: 'over', reason: code, isExhausted: false };
  const delayMs = retryDelayMs(policy, attempts, random);
  return delayMs === null
    ? { kind: 'over', reason: 'retry-exhausted', isExhausted: true }
    : { kind: 'again', code, delayMs };
}

/** How long to wait after that many attempts; null when it was the last. */
function retryDelayMs(policy: RetryPolicy, attempts: number, random: number): number | null {
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
