import { ApiError } from './error.ts';

export interface RetryPolicy {
  /** The maximum number of failed tries in a row, including the first one. */
  attemptsMax: number;
  /** The first delay; it doubles with every failure. */
  baseMs: number;
  maxMs: number;
}

export const REQUEST_RETRY: RetryPolicy = { attemptsMax: 5, baseMs: 100, maxMs: 5_000 };
/** Covers a host restart with recovery: about a minute and a half in all. */
export const RECONNECT: RetryPolicy = { attemptsMax: 20, baseMs: 200, maxMs: 5_000 };

/** If the host requests a longer delay, the error is reported instead. */
const RETRY_AFTER_MAX_MS = 30_000;
const PASSING_STATUSES: ReadonlySet<number> = new Set([0, 429, 502, 503, 504]);

/** Whether the same request may succeed later. */
export function isPassing(error: unknown): error is ApiError {
  if (!(error instanceof ApiError)) return false;
  if ((error.retryAfterMs ?? 0) > RETRY_AFTER_MAX_MS) return false;
  return PASSING_STATUSES.has(error.status) || error.code === 'idempotency_in_flight';
}

/** Half fixed, half random, so that clients of the same host do not reconnect at the same time. */
export function backoffMs(policy: RetryPolicy, failures: number, random = Math.random): number {
  const ceiling = Math.min(policy.maxMs, policy.baseMs * 2 ** (failures - 1));
  return ceiling / 2 + (random() * ceiling) / 2;
}

export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

export async function withRetry<T>(
  policy: RetryPolicy,
  signal: AbortSignal | undefined,
  attempt: () => Promise<T>,
): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await attempt();
    } catch (error) {
      if (!isPassing(error) || failures >= policy.attemptsMax) throw error;
      await sleep(error.retryAfterMs ?? backoffMs(policy, failures), signal);
    }
  }
}
