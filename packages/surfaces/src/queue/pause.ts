/** Resolves after a time, or at once when the signal ends the wait. */
export async function pause(
  ms: number,
  signal: AbortSignal,
  earlier: readonly Promise<void>[] = [],
): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, Math.min(Math.max(ms, 0), TIMER_MS_MAX));
  const wake = (): void => resolve();
  signal.addEventListener('abort', wake, { once: true });
  try {
    await Promise.race([promise, ...earlier]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', wake);
  }
}

/** Node takes longer times for none at all. */
const TIMER_MS_MAX = 2_147_483_647;
